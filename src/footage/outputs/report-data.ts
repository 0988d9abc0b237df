/** Data of report.html from the records of a recording: text ready to be shown, and positions on a timeline. Pure. */
import { type Box, SIDES, type Side } from '../../base/images.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE, textIn } from '../../language/translate.js';
import {
  type DocumentHead,
  REPORT_TEXTS,
  type ReportCamera,
  type ReportData,
  type ReportEntry,
} from '../../schemas/documents.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { FootageChange, FootageVisit, Moment, Outline } from '../records.js';
import { passagesPerHour, visitsOfChanges } from './grouping.js';
import type { Recording } from './recording.js';
import { type Clock, clockOf, hours, NO_CLOCK, ticksOf } from './report-clock.js';
import type { Highlight } from './report-strip.js';

/** A text of the report by its key without `report.`, in the language of the report. */
interface Text {
  (key: string, values?: Readonly<Record<string, string | number>>): string;
  readonly locale: Locale;
}
/** The texts around the sentences, in the language of the sentences: that of the first camera. */
function textsOf({ summary: { cameras } }: Recording): Text {
  const locale: Locale = cameras[0]?.settings.locale ?? DEFAULT_LOCALE;
  return Object.assign((key: string, values = {}) => textIn(locale, `report.${key}`, values), { locale });
}

type NumberOf = (path: string | null) => number | null;

interface Pictures {
  /** the number of an embedded picture by its path; null without one */
  readonly numberOf: NumberOf;
  /** the most important first */
  readonly highlights: readonly Highlight[];
  /** numbers of the embedded crops, by the id of their visit or change */
  readonly crops: ReadonlyMap<string, number>;
}

export function reportData(recording: Recording, { numberOf, highlights, crops }: Pictures): ReportData {
  const text = textsOf(recording);
  const { summary, changes, gaps } = recording;
  const visits = recording.visits.filter(({ kind }) => kind === 'visit');
  const clocks = new Map(summary.cameras.map((camera) => [camera.camera, clockOf(camera)]));
  const cameras = summary.cameras.map(({ camera, files }): ReportCamera => {
    const clock = clocks.get(camera) ?? NO_CLOCK;
    const ofCamera = [...changes, ...visits].filter((one) => one.camera === camera);
    const times = [
      ...files.flatMap(({ file, at, duration }) => [
        clock.time({ file, at, seconds: 0 }),
        clock.time({ file, at, seconds: 0 }) + (duration ?? 0) * 1000,
      ]),
      ...ofCamera.flatMap(({ first_seen, last_seen }) => [clock.time(first_seen), clock.time(last_seen)]),
    ];
    const span = [minimum(times), maximum(times)] as const;
    return {
      camera,
      span,
      gaps: gaps
        .filter((gap) => gap.camera === camera && gap.from.at !== null && gap.to.at !== null)
        .map(({ from, to }) => [clock.time(from), clock.time(to)]),
      ticks: ticksOf(span, clock),
      from: times.length === 0 ? '' : clock.label(span[0]),
      to: times.length === 0 ? '' : clock.label(span[1]),
    };
  });
  const grouped = visitsOfChanges(changes, visits);
  const clockOfCamera = (camera: string): Clock => clocks.get(camera) ?? NO_CLOCK;
  const shown = roundFigures([...changes]).map((change) => ({
    ...reportChange(change, clockOfCamera(change.camera), { numberOf, text }),
    isPlace: grouped.has(change.id),
  }));
  const followed = visits.map((visit) => reportVisit(visit, clockOfCamera(visit.camera), { numberOf, text }));
  const timeOf = ({ camera, first_seen }: Highlight) => clockOfCamera(camera).time(first_seen);
  const inTime = (a: Highlight, b: Highlight) => timeOf(a) - timeOf(b);
  const sentenceOf = (one: Highlight) => `${clockOfCamera(one.camera).short(timeOf(one))} ${one.caption}`;
  const days = [...new Set([...shown, ...followed].map(({ day }) => day))].filter((day) => day !== '').sort();
  const texts = Object.fromEntries(REPORT_TEXTS.map((key) => [key, text(key)])) as ReportData['texts'];
  return {
    ...reportHead(recording),
    lead: leadOf(recording, visits.length, highlights.slice(0, MOST_SENTENCES).sort(inTime).map(sentenceOf), text),
    strip: [...highlights].sort(inTime).flatMap((one) => {
      const picture = crops.get(one.id);
      return picture === undefined ? [] : [{ entry: one.id, picture, text: sentenceOf(one) }];
    }),
    summary: summaryOf(recording, visits.length, text),
    incomplete: summary.complete ? null : text('incomplete'),
    lists: listsOf(recording, text),
    changes: shown,
    visits: followed,
    days,
    cameras,
    texts: { ...texts, shown: text(visits.length === 0 ? 'shown' : 'shown_visits') },
  };
}

/** Sentences of a paragraph: a longer one is not read. */
const MOST_SENTENCES = 3;

/** @param sentences about the most important visits and changes */
function leadOf({ changes }: Recording, visits: number, sentences: readonly string[], text: Text): string {
  const counts = [
    ...(visits === 0 ? [] : [text('visit_count', { n: visits })]),
    ...(changes.length === 0 && visits > 0 ? [] : [text('change_count', { n: changes.length })]),
  ].join(', ');
  return [`${counts}.`, ...sentences].join(text.locale === 'ja' ? '' : ' ');
}

export function reportHead(recording: Recording): DocumentHead {
  const text = textsOf(recording);
  return { locale: text.locale, title: text('title'), noscript: text('noscript') };
}

function summaryOf({ summary, changes }: Recording, visits: number, text: Text): string {
  const count = (read: (camera: (typeof summary.cameras)[number]) => number) =>
    summary.cameras.reduce((sum, camera) => sum + read(camera), 0);
  const model = summary.model === null ? text('no_model') : `${summary.model.name} ${summary.model.version}`;
  return [
    ...(visits === 0 ? [] : [text('visit_count', { n: visits })]),
    text('change_count', { n: changes.length }),
    text('frame_count', { n: count(({ frames }) => frames), examined: count(({ examined }) => examined) }),
    text('camera_count', { n: summary.cameras.length }),
    `scenedelta ${summary.scenedelta}, ${model}`,
  ].join(' · ');
}

function listsOf({ summary, visits, gaps, failures }: Recording, text: Text): ReportData['lists'] {
  const zones = new Map(summary.cameras.map(({ camera, timezone }) => [camera, timezone]));
  const passages = passagesPerHour(visits, (camera) => zones.get(camera) ?? 'UTC');
  const gapLine = ({ camera, from, to, seconds }: Recording['gaps'][number]): string => {
    const time = seconds === null ? text('unknown_time') : `${seconds} s`;
    return text('gap', { camera, time, from: from.file, to: to.file });
  };
  const failureLine = ({ file, seconds, reason }: Recording['failures'][number]): string =>
    `${file}${seconds === null ? '' : `, ${seconds} s`}: ${reason}`;
  return [
    { title: text('failures'), lines: failures.map(failureLine) },
    { title: text('gaps'), lines: gaps.map(gapLine) },
    {
      title: textIn(text.locale, 'passages'),
      lines: passages.map(({ camera, hour, passages }) => `${camera}, ${hour}: ${passages}`),
    },
    { title: text('warnings'), lines: summary.warnings ?? [] },
  ].filter(({ lines }) => lines.length > 0);
}

const dayOf = ({ at }: Moment, clock: Clock): string =>
  at === null ? '' : clock.label(Date.parse(at)).slice(0, 'YYYY-MM-DD'.length);

interface Shown {
  readonly numberOf: NumberOf;
  readonly text: Text;
}

function reportVisit(visit: FootageVisit, clock: Clock, { numberOf, text }: Shown): ReportEntry {
  const { id, camera, caption, identity, first_seen, last_seen, gone, there_before, shown, path, changes } = visit;
  const of = (moment: Moment) => (moment.at === null ? placeOf(moment) : clock.label(Date.parse(moment.at)));
  const outlines = shown?.outlines ?? [];
  const feet = path.map(({ box: { x, y, width, height } }) => `${x + width / 2} ${y + height}`);
  return {
    id,
    camera,
    caption,
    kind: text('visit'),
    severity: 'medium',
    time: clock.time(first_seen),
    day: dayOf(first_seen, clock),
    when: of(first_seen),
    facts: [
      [text('in_the_footage'), placeOf(first_seen)],
      [text(there_before ? 'there_since' : 'first_seen'), of(first_seen)],
      [text('last_seen'), of(last_seen)],
      ...(gone === null
        ? []
        : [[text('gone'), textIn(text.locale, 'range', { from: of(gone.after), to: of(gone.before) })] as const]),
      ...(shown === null ? [] : [[text('shown_at'), of(shown.at)] as const]),
      ...(identity === 'uncertain' ? [[text('identity'), text('uncertain')] as const] : []),
      ...changes.map(({ id: change }) => [text('change'), change] as const),
    ],
    clip: null,
    pictures: [
      {
        name: text('best_frame'),
        picture: numberOf(shown?.picture ?? null),
        outline: shown === null ? '' : outlines.length > 0 ? outlines.map(contour).join('') : rectangle(shown.box),
        way: feet.length < 2 ? '' : `M${feet.join('L')}`,
      },
    ],
    isPlace: false,
  };
}

function reportChange(change: FootageChange, clock: Clock, { numberOf, text }: Shown): Omit<ReportEntry, 'isPlace'> {
  const { id, camera, kind, caption, severity, zone, confidence, status, pictures } = change;
  const { first_seen, last_seen, settled, reverted, pictured } = change;
  const of = (moment: Moment) => (moment.at === null ? placeOf(moment) : clock.label(Date.parse(moment.at)));
  const side = (which: Side) => ({
    name: text(which),
    picture: numberOf(pictures[which]),
    outline: outlineOf(change, which),
    way: '',
  });
  return {
    id,
    camera,
    kind: text(kind),
    caption,
    severity,
    time: clock.time(first_seen),
    day: dayOf(first_seen, clock),
    when: of(first_seen),
    facts: [
      [text('in_the_footage'), placeOf(first_seen)],
      ...(pictured === undefined ? [] : [[text('shown_at'), of(pictured)] as const]),
      [text('last_seen'), of(last_seen)],
      ...(settled === null ? [] : [[text('settled'), of(settled)] as const]),
      ...(reverted === null ? [] : [[text('gone'), of(reverted)] as const]),
      ...(zone === null ? [] : [[text('zone'), zone] as const]),
      [text('severity'), text(severity)],
      [text('status'), text(status)],
      [text('confidence'), `${(confidence * 100).toFixed(1)} %`],
    ],
    clip: change.clip ?? null,
    pictures: SIDES.map(side),
  };
}

const placeOf = ({ file, seconds }: Moment): string => `${file}, ${hours(seconds)}`;

/** Contours of the regions of one side as an SVG path; the boxes of the regions without contours. */
function outlineOf({ outlines, regions }: FootageChange, side: Side): string {
  if (outlines !== undefined)
    return outlines
      .filter((outline) => outline.side === side)
      .map(contour)
      .join('');
  return regions
    .filter((region) => region.side === side)
    .map(({ box }) => rectangle(box))
    .join('');
}

const contour = ({ points }: Outline): string => `M${points.map(([x, y]) => `${x} ${y}`).join('L')}Z`;
const rectangle = ({ x, y, width, height }: Box): string => `M${x} ${y}h${width}v${height}h${-width}Z`;

/** Loops, because a recording may have more frames than a call takes arguments. */
const minimum = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);
const maximum = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), values[0] ?? 0);
