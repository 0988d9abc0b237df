/** The changes of a day as the lists of a brief: came, left, moved, replaced, still there, still gone. Pure. */

import { endedSentence } from '../language/ended.js';
import { BRIEF_LISTS, type BriefGroup, type BriefList, type BriefListName } from '../schemas/brief.js';
import type { Change } from '../schemas/change.js';
import { type ChangeKind, compareSeverity } from '../schemas/kinds.js';
import type { DaySpan } from '../stores/changes/days.js';

const MOST_GROUPS = 50;
const MOST_CHANGES = 20;

/** Lists of a change by its kind: when it begins, when it ends on the day, and if it lasts at the end of the day. */
const LISTS_OF: Readonly<
  Record<Exclude<ChangeKind, 'tamper'>, { begin: BriefListName; end: BriefListName | null; lasts: BriefListName }>
> = {
  appear: { begin: 'came', end: 'left', lasts: 'still_there' },
  disappear: { begin: 'left', end: 'came', lasts: 'still_gone' },
  move: { begin: 'moved', end: null, lasts: 'still_there' },
  replace: { begin: 'replaced', end: null, lasts: 'still_there' },
};

/** A change with the sentences about its end; without any while it lasts. */
export type BriefChange = Change & {
  readonly ends?: Readonly<Record<'one' | 'several', ReturnType<typeof endedSentence>>>;
};

/** @param change as it is stored, in English */
export function withEnds(change: Change): BriefChange {
  if (change.reverted_at === null) return change;
  const seconds = (Date.parse(change.reverted_at) - Date.parse(change.first_seen)) / 1000;
  return { ...change, ends: { one: endedSentence(change, seconds), several: endedSentence(change, null) } };
}

interface Entry {
  readonly change: BriefChange;
  /** epoch ms */
  readonly at: number;
  readonly ended: boolean;
}

/** Changes that a person called a false alarm are no facts. */
export const isFact = ({ feedback }: Change): boolean => feedback?.judgement !== 'false_alarm';

/**
 * @param changes facts, in the language of the brief, that were there at some time of the day
 * @param urlOf address of a change, by its id
 */
export function briefLists(
  changes: readonly BriefChange[],
  day: DaySpan,
  urlOf: (id: string) => string,
): Record<BriefListName, BriefList> {
  const entries: Record<BriefListName, Entry[]> = {
    came: [],
    left: [],
    moved: [],
    replaced: [],
    still_there: [],
    still_gone: [],
  };
  const isOn = (at: number | null): at is number => at !== null && at >= day.from && at < day.until;
  for (const change of changes) {
    if (change.kind === 'tamper') continue;
    const { begin, end, lasts } = LISTS_OF[change.kind];
    const first = Date.parse(change.first_seen);
    const ended = change.reverted_at === null ? null : Date.parse(change.reverted_at);
    if (isOn(first)) entries[begin].push({ change, at: first, ended: false });
    if (end !== null && isOn(ended)) entries[end].push({ change, at: ended, ended: true });
    if (first < day.until && (ended === null || ended >= day.until)) {
      entries[lasts].push({ change, at: first, ended: false });
    }
  }
  return Object.fromEntries(BRIEF_LISTS.map((name) => [name, listOf(entries[name], day, urlOf)])) as Record<
    BriefListName,
    BriefList
  >;
}

function listOf(entries: readonly Entry[], day: DaySpan, urlOf: (id: string) => string): BriefList {
  const groups = new Map<string, Entry[]>();
  for (const entry of [...entries].sort((a, b) => a.at - b.at || (a.change.id < b.change.id ? -1 : 1))) {
    const { kind, zone } = entry.change;
    const key = JSON.stringify([captionOf(entry.change), kind, zone, entry.ended]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  const all = [...groups.values()].map((group) => groupOf(group, day, urlOf));
  const shown = [...all]
    .sort((a, b) => compareSeverity(b.severity, a.severity) || (a.last_at < b.last_at ? 1 : -1))
    .slice(0, MOST_GROUPS);
  const counted = shown.reduce((sum, { count }) => sum + count, 0);
  return {
    count: entries.length,
    // `all` is in the order of time.
    groups: all.filter((group) => shown.includes(group)),
    left_out: entries.length - counted,
  };
}

/** @param entries of one sentence, kind and zone, in the order of their time; at least one */
function groupOf(entries: readonly Entry[], { until }: DaySpan, urlOf: (id: string) => string): BriefGroup {
  const [first] = entries as [Entry];
  const last = entries.at(-1) as Entry;
  const severities = entries.map(({ change }) => change.severity).sort(compareSeverity);
  return {
    caption: sentenceOf(first, entries.length),
    ended: first.ended,
    zone: first.change.zone,
    kind: first.change.kind,
    severity: severities.at(-1) as BriefGroup['severity'],
    count: entries.length,
    first_at: new Date(first.at).toISOString(),
    last_at: new Date(last.at).toISOString(),
    changes: entries.slice(-MOST_CHANGES).map(({ change: { id, first_seen, reverted_at }, at }) => ({
      id,
      at: new Date(at).toISOString(),
      first_seen,
      ended_at: reverted_at !== null && Date.parse(reverted_at) < until ? reverted_at : null,
      url: urlOf(id),
    })),
  };
}

/** The caption, or for an ended change the sentence of its end; several of them lasted differently long. */
const sentenceOf = ({ change, ended }: Entry, count: number): string =>
  (ended && change.ends?.[count === 1 ? 'one' : 'several'].caption) || captionOf(change);

/** The sentence that a person corrected counts more. */
const captionOf = ({ caption, feedback }: Change): string => feedback?.caption ?? caption;
