/** Names that cameras and recorders give to files: camera, capture time and order, without a template of the user. */
import { basename } from 'node:path';
import { clockInName, epochInName, type NamedClock } from './clock-in-name.js';
import { compileTemplate, type NameParts, type Template } from './template.js';

interface NameFormat {
  /** programs or makers that write it */
  readonly by: string;
  /** in the language of template.ts, with exact digits; a leading `{camera}/` may be absent */
  readonly template: string;
  /** undefined: that of the camera */
  readonly timeZone?: string;
}

/** Formats by which a path is read, the most special ones first. */
const NAME_FORMATS: readonly NameFormat[] = [
  {
    by: 'Frigate, recordings',
    template: '{date:%Y-%m-%d}/{hour:%H}/{camera}/{minute:%M}.{second:%S}.{ext}',
    timeZone: 'UTC',
  },
  { by: 'Frigate, snapshots', template: '{camera}-{t:%s}-{any}.{ext}' },
  { by: 'ZoneMinder, deep storage', template: '{camera}/{date:%y/%m/%d}/{time:%H/%M/%S}/{order}-{any}.{ext}' },
  { by: 'Dahua, Amcrest', template: '{camera}/{date:%Y-%m-%d}/{any}/{time:%H.%M.%S}[{any}][{any}][{order}].{ext}' },
  {
    by: 'Dahua, Amcrest, folders of times',
    template: '{camera}/{date:%Y-%m-%d}/{any}/{any}/{time:%H/%M/%S}[{any}][{any}][{order}].{ext}',
  },
  {
    by: 'Dahua, Amcrest, videos',
    template: '{camera}/{date:%Y-%m-%d}/{any}/{any}/{any}/{time:%H.%M.%S}-{any}[{any}][{any}][{order}].{ext}',
  },
  { by: 'Hikvision', template: '{camera}_{t:%Y%m%d%H%M%S%f}_{any}.{ext}' },
  { by: 'Foscam', template: '{any}({camera})_{any}_{t:%Y%m%d%H%M%S}_{order}.{ext}' },
  { by: 'Reolink, memory card', template: 'Rec{any}_DST{t:%Y%m%d_%H%M%S}_{any}.{ext}' },
  { by: 'Reolink', template: '{camera}_{t:%Y%m%d%H%M%S}.{ext}' },
  { by: 'Synology Surveillance Station', template: '{camera}-{t:%Y%m%d-%H%M%S}-{order}.{ext}' },
  { by: 'Blue Iris', template: '{camera}.{t:%Y%m%d_%H%M%S}.{ext}' },
  { by: 'Blue Iris, alerts', template: '{camera}.{t:%Y%m%d_%H%M%S}.{order}.{ext}' },
  { by: 'UniFi Protect', template: '{camera} {t:%m-%d-%Y, %I.%M.%S %p %z}.{ext}' },
  { by: 'UniFi Protect, 24 hours', template: '{camera} {t:%m-%d-%Y, %H.%M.%S %z}.{ext}' },
  { by: 'yi-hack', template: '{camera}/{date:%YY%mM%dD%HH}/{time:%MM%SS}{any}.{ext}' },
  { by: 'Xiaomi', template: '{camera}/{date:%Y%m%d%H}/{time:%MM%SS}_{any}.{ext}' },
  { by: 'motionEye', template: '{camera}/{date:%Y-%m-%d}/{time:%H-%M-%S}.{ext}' },
  { by: 'Vivotek, memory card', template: '{camera}/{date:%Y%m%d}/{hour:%H}/{minute:%M}.{ext}' },
  { by: 'motion', template: '{any}-{t:%Y%m%d%H%M%S}-{order}.{ext}' },
  { by: 'GeoVision', template: '{any}_{t:%Y-%m-%d-%H-%M-%S-%f}_{order}.{ext}' },
  { by: 'Axis', template: 'image{t:%y-%m-%d_%H-%M-%S-%f}.{ext}' },
  { by: 'Axis, whole seconds', template: 'image{t:%y-%m-%d_%H-%M-%S}.{ext}' },
];

/** First words of names, and folders, that name an event or a kind of file and no camera. */
const NO_CAMERA = /^(?:img|vid|pxl|mov|image|snap(?:shot)?|record|video|motion|event|alarm|[hmd]*alarm|schedule|pic)$/i;
/** A folder of a year, a month or a day, or of both with an hour; one of a recording has a time. */
const DATE_FOLDER = /^(?:19|20)\d\d(?:[-_.]?\d\d){0,3}$/;

const compiled = new Map<string, readonly Template[]>();

function templatesOf(timeZone: string): readonly Template[] {
  const known = compiled.get(timeZone);
  if (known !== undefined) return known;
  const templates = NAME_FORMATS.flatMap((format) => {
    const forms = [format.template, format.template.replace(/^\{camera\}\//, '')];
    return [...new Set(forms)].map((form) => compileTemplate(form, format.timeZone ?? timeZone, { exact: true }));
  });
  compiled.set(timeZone, templates);
  return templates;
}

/**
 * @param path as a folder or a listing names it, with its folders if they are known
 * @param timeZone IANA name, of times without an offset
 * @returns camera: that of the name or of the nearest folder that is no date, null if there is none. at: epoch ms, null
 *   if the name states no time. order: place among files of one time, null if none is stated
 */
export function readName(path: string, timeZone: string): NameParts {
  const unified = path.replaceAll('\\', '/');
  const folder = cameraOfFolders(unified);
  for (const template of templatesOf(timeZone)) {
    const parts = template.match(unified);
    if (parts === undefined) continue;
    // Names with the times of begin and end: another time before that of the format is the begin.
    const begin = parts.camera === null ? null : clockInName(parts.camera, timeZone);
    const camera = begin === null ? parts.camera : parts.camera?.slice(0, begin.index).replace(/[-_. ]+$/, '') || null;
    const named = camera === null || NO_CAMERA.test(camera) ? null : camera;
    return { ...parts, ...(begin === null ? {} : timeOf(begin)), camera: named ?? folder };
  }
  const name = basename(unified);
  const clock = clockInName(name, timeZone);
  const time = clock === null ? { at: epochInName(name) } : timeOf(clock);
  return { camera: folder, ...time, order: clock?.order ?? markedOrder(name) };
}

const timeOf = ({ at, doubt }: NamedClock): Pick<NameParts, 'at' | 'doubt'> =>
  doubt === undefined ? { at } : { at, doubt };

function cameraOfFolders(path: string): string | null {
  const folders = path.split('/').slice(0, -1);
  while (folders.length > 0) {
    const last = folders.pop() as string;
    // Folders as 2026/11/25 are parts of a date.
    const isPart = /^\d\d$/.test(last) && folders.slice(-2).some((other) => /^(?:19|20)\d\d$/.test(other));
    const isDate = isPart || DATE_FOLDER.test(last) || clockInName(last, 'UTC') !== null;
    if (!isDate && !NO_CAMERA.test(last) && last !== '.' && last !== '') return last;
  }
  return null;
}

/** Pictures around a trigger: before, at and after it. Each has its number among those of its kind. */
const MARK = /(?<![A-Za-z])(pre|trg|pos|pst|post)[-_]?(\d{0,6})(?![A-Za-z])/i;
const MARK_BASE: Readonly<Record<string, number>> = { pre: -1e6, trg: 0, pos: 1e6, pst: 1e6, post: 1e6 };

function markedOrder(name: string): number | null {
  const [, mark, number] = MARK.exec(name) ?? [];
  return mark === undefined ? null : (MARK_BASE[mark.toLowerCase()] ?? 0) + Number(number);
}
