/** Plan of a run: from the listed files to sequences in the order of time. */
import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import pLimit from 'p-limit';
import { counted } from '../../base/counted.js';
import { asScenedeltaError, invalidValue, type ScenedeltaError } from '../../base/errors.js';
import { type ClockDoubt, isoTimeIn } from '../../base/wall-clock.js';
import type { FootageFailure } from '../records.js';
import type { ListedFile } from './list-files.js';
import { readName } from './names.js';
import { isPlausible, type OwnTime, ownTimeOfImage, ownTimeOfVideo } from './own-times.js';
import { isFaultOfItem } from './recording.js';
import type { FootageItem, FootageSequence } from './recording-plan.js';
import type { NameParts, Template } from './template.js';

export interface PlanOptions {
  readonly template: Template | null;
  /** name of the camera of files whose template has none; null: the name of their folder */
  readonly camera: string | null;
  /** capture time of the first file, epoch ms; null: by the names and the files */
  readonly start: number | null;
  readonly timeZone: string;
  /** seconds between two images whose times are not known, with `start` */
  readonly imageInterval: number;
  readonly ffmpeg: string;
  readonly videoPixelLimit: number;
  /** epoch ms; no recording is from later */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Source of the time of a file. */
export type TimeSource = 'start' | 'name' | OwnTime['source'];

interface PlannedSequence extends Pick<FootageSequence, 'camera' | 'items'> {
  /** number of files per source of their times */
  readonly sources: Readonly<Partial<Record<TimeSource, number>>>;
  /** sentences about times that are uncertain */
  readonly doubts: readonly string[];
}

export interface RecordingPlan {
  /** by the name of the camera */
  readonly sequences: readonly PlannedSequence[];
  /** files that belong to no sequence */
  readonly failures: readonly FootageFailure[];
  /** sentences for the user */
  readonly warnings: readonly string[];
}

/** Files whose own time is read at a time. */
const READERS = 4;
const byName = new Intl.Collator('en', { numeric: true });

/** @throws ScenedeltaError 'cancelled', 'not-found' (ffprobe) */
export async function planRecording(files: Iterable<ListedFile>, options: PlanOptions): Promise<RecordingPlan> {
  const failures: FootageFailure[] = [];
  const groups = new Map<string, Timed[]>();
  const fail = (camera: string | null, file: string, { code, message: reason }: ScenedeltaError) =>
    failures.push({ v: 1, camera, file, seconds: null, code, reason });
  for (const file of files) {
    if (file.fault !== undefined) {
      fail(null, file.file, file.fault);
      continue;
    }
    const parts = partsOf(file, options);
    if (parts === undefined) {
      const expected = `expected a path that ends as --template ${options.template?.text}`;
      fail(null, file.file, invalidValue(`the name does not fit: ${expected}`));
      continue;
    }
    const named = cameraOf(file, parts, options);
    const camera = cameraId(named);
    const group = groups.get(camera) ?? [];
    groups.set(camera, group);
    const { kind, location, modifiedAt } = file;
    // Nothing else states the time of a file at an address.
    const hasOther = location.from === 'file' || modifiedAt !== null;
    const isDoubted = hasOther && file.stated === undefined && parts.at !== null && !isPlausible(parts.at, options.now);
    const [at, doubted] = isDoubted ? [null, parts.at] : [parts.at, null];
    group.push({
      kind,
      file: file.file,
      location,
      modifiedAt,
      at,
      doubted,
      clock: parts.doubt,
      source: options.start === null ? 'name' : 'start',
      order: parts.order ?? null,
      duration: null,
    });
  }

  const limit = pLimit(READERS);
  const sources = { file: 0 };
  const sequences: RecordingPlan['sequences'][number][] = [];
  for (const camera of [...groups.keys()].sort()) {
    const group = (groups.get(camera) ?? []).sort((a, b) => byName.compare(a.file, b.file));
    groups.delete(camera);
    // A list may have a million files, most of which need no reading: there are promises for the others alone.
    const failed = new Map<Timed, ScenedeltaError>();
    await Promise.all(
      group
        .filter((timed) => isRead(timed, options))
        .map((timed) =>
          limit(async () => {
            try {
              const { at, duration, source, doubted } = await ownTimeOf(timed, options);
              Object.assign(timed, { at, duration, doubted: timed.doubted ?? doubted });
              if (options.start === null) Object.assign(timed, { source, clock: undefined });
              if (source === 'file' && timed.doubted === null) sources.file++;
            } catch (thrown) {
              const error = asScenedeltaError(thrown);
              if (!isFaultOfItem(error)) throw thrown;
              failed.set(timed, error);
            }
          }),
        ),
    );
    // In the order of the names, whichever was read first.
    for (const timed of group) {
      const error = failed.get(timed);
      if (error !== undefined) fail(camera, timed.file, error);
    }
    const readable = failed.size === 0 ? group : group.filter((timed) => !failed.has(timed));
    const timed = options.start === null ? readable : untilUnknownLength(readable);
    for (const { file } of readable.slice(timed.length)) fail(camera, file, afterUnknownLength());
    const items = inOrder(timed, options);
    const doubts = options.start === null ? doubtsOf(camera, timed, options.timeZone) : [];
    const counted: Partial<Record<TimeSource, number>> = {};
    for (const { source } of timed) counted[source] = (counted[source] ?? 0) + 1;
    if (items.length > 0) sequences.push({ camera, items, sources: counted, doubts });
  }
  const warnings = sequences.flatMap(({ doubts }) => doubts);
  if (sources.file > 0 && options.start === null) {
    warnings.push(
      `${counted(sources.file, 'file states', 'files state')} no time: the time of the last modification is used, ` +
        'that of the copy or of the upload if there was one. Expected names with date and time, a template or a start',
    );
  }
  return { sequences, failures, warnings };
}

/** A file of one camera, without what only its listing needs: there may be a million of them. */
interface Timed extends Pick<ListedFile, 'kind' | 'file' | 'location' | 'modifiedAt'> {
  /** capture time of its beginning, epoch ms; null: not known yet, or without a meaning because of `start` */
  at: number | null;
  /** the time that the name or the file states and that cannot be, epoch ms; null: none */
  doubted: number | null;
  /** of the time in its name */
  clock: ClockDoubt | undefined;
  source: TimeSource;
  /** place among the files of one time */
  readonly order: number | null;
  /** seconds; null of an image, and of a video that was not read */
  duration: number | null;
}

/** Whether the time or the length of a file has to be read from the file. */
const isRead = ({ kind, location, at }: Timed, { start }: PlanOptions): boolean =>
  start === null ? at === null : kind === 'video' && location.from === 'file';

function partsOf({ file, stated }: ListedFile, { template, timeZone }: PlanOptions): Parts | undefined {
  if (stated?.at != null) return stated;
  return template === null ? readName(file, timeZone) : template.match(file);
}
type Parts = Omit<NameParts, 'order'> & { readonly order?: NameParts['order'] };

/** The camera that the user names precedes the one that a name without a template seems to have. */
function cameraOf({ file, stated }: ListedFile, parts: Parts, { template, camera }: PlanOptions): string {
  const named = stated?.camera ?? (template === null ? (camera ?? parts.camera) : (parts.camera ?? camera));
  return named ?? basename(dirname(file));
}

/** @returns sentences about the files of a camera whose stated time cannot be, or is not certain */
function doubtsOf(camera: string, files: readonly Timed[], timeZone: string): string[] {
  const ofClock = (['twice', 'missing'] as const).flatMap((doubt) => {
    const [first, ...others] = files.filter(({ clock }) => clock === doubt);
    if (first === undefined) return [];
    return [
      `${camera}: ${counted(others.length + 1, 'file states', 'files state')} ${CLOCK_DOUBTS[doubt](timeZone)} ` +
        `(the first is ${first.file})`,
    ];
  });
  const doubted = files.filter((timed) => timed.doubted !== null);
  const [first] = doubted;
  if (first === undefined) return ofClock;
  const stated = `${first.file}: ${isoTimeIn(first.doubted as number, timeZone)}`;
  const used = 'the time of the container, of EXIF or of the last modification is used';
  return [
    ...ofClock,
    `${camera}: ${counted(doubted.length, 'file states', 'files state')} a time that cannot be ` +
      `(the first is ${stated}): ${used}`,
  ];
}

const CLOCK_DOUBTS: Readonly<Record<ClockDoubt, (zone: string) => string>> = {
  twice: (zone) => `a time that ${zone} has twice, and the first one is assumed`,
  missing: (zone) => `a time that ${zone} skips in spring: the camera does not change its clock, expected another --tz`,
};

/**
 * Camera ids have a narrow alphabet, because they become names of files and keys. Letters without accents stay; if
 * others are lost, a digest of the name keeps two cameras apart.
 */
function cameraId(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '');
  const id = plain.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const isLossy = /[\p{L}\p{N}]/u.test(plain.replace(/[A-Za-z0-9]/g, ''));
  if (!isLossy) return id.slice(0, MAX_ID) || 'camera';
  const digest = createHash('sha256').update(name.normalize('NFC')).digest('hex').slice(0, DIGEST);
  return `${id.replace(/-+$/, '').slice(0, MAX_ID - DIGEST - 1) || 'camera'}-${digest}`;
}
const MAX_ID = 64;
const DIGEST = 8;

/** @throws ScenedeltaError as probeVideo does */
async function ownTimeOf({ kind, location, modifiedAt }: Timed, options: PlanOptions): Promise<OwnTime> {
  // An object is read once, when its turn comes.
  if (location.from === 's3' && modifiedAt !== null) {
    return { at: modifiedAt, source: 'file', duration: null, doubted: null };
  }
  if (location.from !== 'file') {
    const expected = 'expected `at`, `start`, a template, or a name with date and time';
    throw invalidValue(`the address states no capture time: ${expected}`);
  }
  const { ffmpeg, signal, videoPixelLimit, now } = options;
  if (kind === 'image') return ownTimeOfImage(location.path, options.timeZone, now);
  return ownTimeOfVideo(location.path, { ffmpeg, signal, pixelLimit: videoPixelLimit, now });
}

/** The files after a video begin at its end: if its length is not known, their times are not. */
function untilUnknownLength(files: readonly Timed[]): readonly Timed[] {
  const unknown = files.findIndex(({ kind, duration }) => kind === 'video' && duration === null);
  return unknown === -1 ? files : files.slice(0, unknown + 1);
}
const afterUnknownLength = () =>
  invalidValue('follows a video whose length is not known: expected `at`, a template, or a name with date and time');

/** @param files in the order of their names */
function inOrder(files: readonly Timed[], { start, imageInterval }: PlanOptions): FootageItem[] {
  const itemOf = ({ kind, file, location }: Timed, at: number): FootageItem => ({ kind, file, location, at });
  if (start !== null) {
    let at = start;
    return files.map((file) => {
      const item = itemOf(file, Math.round(at));
      at += (file.kind === 'image' ? imageInterval : (file.duration ?? 0)) * 1000;
      return item;
    });
  }
  // Sorting is stable: files of one time and without a stated order stay in the order of their names.
  const sorted = [...files].sort((a, b) => (a.at as number) - (b.at as number) || (a.order ?? 0) - (b.order ?? 0));
  return spread(sorted.map((file) => itemOf(file, file.at as number)));
}

/** Names have whole seconds: the pictures of a burst are spread over theirs, in their order. */
function spread(items: readonly FootageItem[]): FootageItem[] {
  const spreadItems: FootageItem[] = [];
  for (let i = 0; i < items.length; ) {
    const { at } = items[i] as FootageItem;
    let end = i + 1;
    while (items[end]?.at === at) end++;
    const span = Math.min(1000, (items[end]?.at ?? Number.POSITIVE_INFINITY) - at);
    for (const [n, item] of items.slice(i, end).entries()) {
      const isBurst = item.kind === 'image' && end - i > 1;
      spreadItems.push(isBurst ? { ...item, at: at + Math.floor((n * span) / (end - i)) } : item);
    }
    i = end;
  }
  return spreadItems;
}
