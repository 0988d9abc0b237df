/** Visits and changes as WebVTT captions of one video: players show each sentence at its time. */
import type { FootageChange, FootageVisit } from '../records.js';
import { visitsOfChanges } from './grouping.js';

/** A cue is shown for at least as long as reading it takes, and a thing that stays does not cover the picture. */
const SHOWN_S = { min: 5, max: 30 };

type Cue = Pick<FootageChange, 'id' | 'caption' | 'first_seen' | 'last_seen'>;

/**
 * One cue per visit, and one per change that is no place of a visit, of those that this video first showed, in the
 * order of time.
 * @param file as the records name it
 */
export function* captionsVtt(
  file: string,
  changes: readonly FootageChange[],
  visits: readonly FootageVisit[],
): Generator<string> {
  yield `WEBVTT\n\nNOTE Changes in ${text(file)}\n`;
  const grouped = visitsOfChanges(changes, visits);
  const all: Cue[] = [
    ...visits.filter(({ kind }) => kind === 'visit'),
    ...changes.filter(({ id }) => !grouped.has(id)),
  ];
  const ofFile = all.filter(({ first_seen }) => first_seen.file === file);
  for (const cue of ofFile.sort((a, b) => a.first_seen.seconds - b.first_seen.seconds)) {
    const { seconds } = cue.first_seen;
    yield `\n${text(cue.id)}\n${timestamp(seconds)} --> ${timestamp(seconds + shownFor(cue))}\n`;
    yield `${text(cue.caption)}\n`;
  }
}

function shownFor({ first_seen, last_seen }: Cue): number {
  const length = last_seen.file === first_seen.file ? last_seen.seconds - first_seen.seconds : SHOWN_S.max;
  return Math.min(Math.max(length, SHOWN_S.min), SHOWN_S.max);
}

/** HH:MM:SS.mmm; hours have two digits or more. */
function timestamp(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const pad = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
  return `${pad(ms / 3_600_000)}:${pad((ms / 60_000) % 60)}:${pad((ms / 1000) % 60)}.${pad(ms % 1000, 3)}`;
}

/** One line of cue text: no markup, no arrow, no line break. */
const text = (value: string): string =>
  value
    .replace(/\p{Cc}+|[\u2028\u2029]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .trim() || '-';
