/**
 * The paragraph at the head of a brief, and what its pictures show: "A quiet day. Two people (Gate, 23:10 to 23:14); a
 * white van (Yard, 06:40, still there)." Pure.
 */
import { boxAround } from '../base/box-around.js';
import type { Locale } from '../language/locales.js';
import { tableOf } from '../language/table.js';
import { SOMETHING } from '../language/thing.js';
import { textIn } from '../language/translate.js';
import { nounPhrase, sentenceOf } from '../language/write.js';
import type { BriefGroup, BriefShown, CameraBrief } from '../schemas/brief.js';
import type { Change } from '../schemas/change.js';
import { compareSeverity, SEVERITIES } from '../schemas/kinds.js';
import { shownFrame } from '../schemas/shown-change.js';
import type { Visit } from '../schemas/visit.js';
import { cameraTitle, duration, timeIn } from './wording.js';

/** Visits of things of one noun that begin within this time of the end of the one before are one highlight. */
const TOGETHER_MS = 10 * 60_000;
/** Visits, or changes without visits, of a day that is called quiet. */
const QUIET = 5;
/** Highlights of a paragraph: a longer one is not read. */
const MOST_MENTIONED = 4;
/** Changes of a camera that has no visits. */
const MOST_CHANGES = 3;
/** Least seconds without a picture that are mentioned. */
const LONG_UNSEEN = 600;

/** The records of one camera for the summary. */
export interface CameraPart {
  readonly brief: CameraBrief;
  /** the visits of its brief, whole, in the order of their begin */
  readonly visits: readonly Visit[];
  /** the changes of its brief, in the language of the brief */
  readonly changes: readonly Change[];
}

/** A visit, several together, or changes that the paragraph may mention. */
export interface Highlight {
  /** with camera and time, e.g. 'two people (Gate, 23:10 to 23:14)' */
  readonly text: string;
  /** of the change or visit that shows it best */
  readonly id: string;
  /** the part of a frame that shows it; box null: the whole frame */
  readonly picture: BriefShown;
  /** epoch ms */
  readonly at: number;
  /** the most important has the highest */
  readonly weight: number;
}

/** @returns the most important first */
export function highlightsOf(parts: readonly CameraPart[], locale: Locale): Highlight[] {
  const all = parts.flatMap((part) =>
    part.visits.length > 0 ? visitHighlights(part, locale) : changeHighlights(part, locale),
  );
  return all.sort((a, b) => b.weight - a.weight || b.at - a.at);
}

/** @param highlights the most important first */
export function paragraphOf(parts: readonly CameraPart[], highlights: readonly Highlight[], locale: Locale): string {
  if (parts.length === 0) return '';
  const mentioned = highlights.slice(0, MOST_MENTIONED).sort((a, b) => a.at - b.at);
  const left = highlights.length - mentioned.length;
  return [
    moodOf(parts, locale),
    ...(mentioned.length === 0
      ? []
      : [sentenceOf(mentioned.map(({ text }) => text).join(tableOf(locale).phrases.also ?? '; '), locale)]),
    ...(left === 0 ? [] : [textIn(locale, 'brief_more', { n: left })]),
    ...unseenOf(parts, locale),
  ].join(locale === 'ja' ? '' : ' ');
}

function moodOf(parts: readonly CameraPart[], locale: Locale): string {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const visits = sum(parts.map(({ brief }) => brief.visits.count));
  const changes = sum(
    parts.map(({ brief: { came, left, moved, replaced } }) => came.count + left.count + moved.count + replaced.count),
  );
  if (visits + changes === 0) return sentenceOf(textIn(locale, 'nothing'), locale);
  const isOver = parts.every(({ brief }) => brief.over);
  if ((visits || changes) <= QUIET) return textIn(locale, isOver ? 'brief_quiet' : 'brief_quiet_so_far');
  if (visits === 0) return textIn(locale, 'brief_changes', { n: changes });
  return textIn(locale, 'brief_busy', { n: visits, ...busiestHour(parts) });
}

/** @returns begin and end of the hour in which most visits began, in the time of the first camera that has it */
function busiestHour(parts: readonly CameraPart[]): { readonly from: string; readonly to: string } {
  const hours = new Map<number, { count: number; brief: CameraBrief }>();
  for (const { brief } of parts) {
    for (const { from, count } of brief.visits.per_hour) {
      const known = hours.get(Date.parse(from));
      hours.set(Date.parse(from), { brief: known?.brief ?? brief, count: count + (known?.count ?? 0) });
    }
  }
  const [at = 0, most] = [...hours].sort(([, a], [, b]) => b.count - a.count)[0] ?? [];
  const shown = (time: number) => (most === undefined ? '' : timeIn(most.brief)(new Date(time).toISOString()));
  return { from: shown(at), to: shown(at + 3_600_000) };
}

function unseenOf(parts: readonly CameraPart[], locale: Locale): string[] {
  const cameras = parts.flatMap(({ brief }) => {
    // The time before the first frame is no loss.
    const unrecorded = brief.not_seen.spans.filter(({ reason }) => reason === 'unrecorded');
    const before = unrecorded.map(({ from, until }) => (Date.parse(until ?? brief.until) - Date.parse(from)) / 1000);
    const seconds = brief.not_seen.seconds - Math.round(before[0] ?? 0);
    return seconds >= LONG_UNSEEN ? [`${cameraTitle(brief, 'name')} (${duration(seconds)})`] : [];
  });
  return cameras.length === 0 ? [] : [textIn(locale, 'brief_unseen', { cameras: cameras.join(', ') })];
}

function visitHighlights({ brief, visits }: CameraPart, locale: Locale): Highlight[] {
  const groups: [Visit, ...Visit[]][] = [];
  for (const visit of visits) {
    const group = groups.findLast(([first]) => first.content.thing.noun === visit.content.thing.noun);
    const last = group?.at(-1);
    const isNear = last !== undefined && Date.parse(visit.first_seen) - Date.parse(latest(group ?? [])) <= TOGETHER_MS;
    if (isNear) group?.push(visit);
    else groups.push([visit]);
  }
  return groups.map((group) => {
    const [first] = group;
    const isOpen = group.some(({ status }) => status === 'open');
    const best =
      group.find(({ alert }) => alert !== undefined) ?? group.reduce((a, b) => (b.frames > a.frames ? b : a));
    const severity = Math.max(0, ...group.map(({ alert }) => SEVERITIES.indexOf(alert?.severity ?? 'info')));
    const isNamed = first.content.thing.noun !== SOMETHING;
    return {
      text: withPlace(nounPhrase(thingOf(group), locale), brief, spanOf(group, isOpen, brief, locale), locale),
      id: best.id,
      picture: best.best,
      at: Date.parse(first.first_seen),
      weight: severity * 100 + Number(isNamed) * 20 + Number(isOpen) * 10 + Math.min(minutesOf(group) / 5, 9),
    };
  });
}

const minutesOf = (group: readonly [Visit, ...Visit[]]): number =>
  (Date.parse(latest(group)) - Date.parse(group[0].first_seen)) / 60_000;

const latest = (group: readonly Visit[]): string =>
  group
    .map(({ last_seen }) => last_seen)
    .sort()
    .at(-1) ?? '';

/** One thing as it was seen; several are counted, as far as it is certain that they are several. */
function thingOf(group: readonly [Visit, ...Visit[]]): Visit['content']['thing'] {
  const [first, ...others] = group;
  const { thing } = first.content;
  if (others.length === 0 && first.identity === 'certain') return { ...thing, definite: false };
  const counts = group.map(({ identity, content }) => (identity === 'certain' ? content.thing.count : null));
  const count = counts.includes(null) ? null : counts.reduce((sum: number, one) => sum + (one ?? 0), 0);
  return { noun: thing.noun, colour: null, count, definite: false };
}

function spanOf(group: readonly [Visit, ...Visit[]], isOpen: boolean, brief: CameraBrief, locale: Locale): string {
  const [from, to] = [timeIn(brief)(group[0].first_seen), timeIn(brief)(latest(group))];
  if (isOpen) return textIn(locale, 'brief_since', { time: from });
  return from === to ? from : textIn(locale, 'range', { from, to });
}

function changeHighlights({ brief, changes }: CameraPart, locale: Locale): Highlight[] {
  const byId = new Map(changes.map((change) => [change.id, change]));
  const groups = [brief.came, brief.left, brief.moved, brief.replaced].flatMap((list) => list.groups);
  const severe = groups.sort((a, b) => compareSeverity(b.severity, a.severity)).slice(0, MOST_CHANGES);
  return severe.flatMap((group) => changeHighlight(group, byId, brief, locale));
}

function changeHighlight(
  { caption, severity, count, first_at, last_at, changes }: BriefGroup,
  byId: ReadonlyMap<string, Change>,
  brief: CameraBrief,
  locale: Locale,
): Highlight[] {
  const change = byId.get(changes.at(-1)?.id ?? '');
  if (change === undefined) return [];
  const { comparison, side } = shownFrame(change);
  const boxes = change.regions.filter((region) => region.side === side).map(({ box }) => box);
  const [from, to] = [timeIn(brief)(first_at), timeIn(brief)(last_at)];
  const when = count === 1 ? from : textIn(locale, 'range', { from, to });
  const sentence = caption.replace(/[.。]$/, '');
  return [
    {
      text: withPlace(sentence, brief, when, locale),
      id: change.id,
      picture: { comparison, side, box: change.kind === 'tamper' ? null : boxAround(boxes) },
      at: Date.parse(first_at),
      weight: SEVERITIES.indexOf(severity) * 100,
    },
  ];
}

const withPlace = (what: string, brief: CameraBrief, when: string, locale: Locale): string =>
  textIn(locale, 'brief_told', { what, camera: cameraTitle(brief, 'name'), when });
