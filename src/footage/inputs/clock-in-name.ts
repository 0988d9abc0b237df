/** Times in names of no known format: date and time of a wall clock, with an offset or without; epoch time. Pure. */
import { checkedWallClock, instantOf, offsetOf, readClock, type WallClock } from '../../base/wall-clock.js';
import type { NameParts } from './template.js';

/** Date, time, AM or PM, offset, each with separators or without; digits beside them belong to another number. */
const CLOCK = new RegExp(
  [
    String.raw`(?<!\d)(?:(?<year>(?:18|19|20)\d\d)[-_.]?(?<month>\d\d)[-_.]?(?<day>\d\d)`,
    String.raw`|(?<first>\d\d)[-_.](?<second>\d\d)[-_.](?<last>(?:19|20)\d\d))`,
    String.raw`(?:[T _.-]{0,2}|[ _-]at[ _-])(?<h>\d{1,2})(?<mark>[-_.:h]?)(?<m>\d\d)(?:[-_.:m]?(?<s>\d\d))?`,
    String.raw`(?:[.,](?<fraction>\d{1,9})|(?<more>\d{2,3}))?(?!\d)(?:[\s_-]?(?<half>[AP])\.?M(?![A-Z]))?`,
    // A number behind a hyphen is no offset unless it has a colon.
    String.raw`(?<offset>Z(?![A-Z])|\+\d\d[-:.]?\d\d(?!\d)|-\d\d:\d\d(?!\d))?`,
  ].join(''),
  'i',
);
/** Seconds since 1970, with milliseconds or without, of 2008 to 2033. */
const EPOCH = /(?<![\dA-Za-z])(1[2-9]\d{8})(\d{3})?(?![\dA-Za-z])/;

export interface NamedClock extends Pick<NameParts, 'doubt'> {
  /** epoch ms */
  readonly at: number;
  /** place among the files of one second, if the digits behind it state one */
  readonly order?: number;
  /** of its first character in the name */
  readonly index: number;
}

/** @returns the first time of a wall clock that a name states; null if it states none */
export function clockInName(name: string, timeZone: string): NamedClock | null {
  const match = CLOCK.exec(name);
  return match && readMatch(match, timeZone);
}

/** @returns the epoch time that a name states, ms; null if it states none. Serial numbers look alike. */
export function epochInName(name: string): number | null {
  const epoch = EPOCH.exec(name);
  return epoch && Number(epoch[1]) * 1000 + Number(epoch[2] ?? 0);
}

function readMatch({ groups = {}, index }: RegExpExecArray, timeZone: string): NamedClock | null {
  const { h = '', mark, m = '', s, fraction, more, half, offset } = groups;
  // Four digits alone are as often a number as an hour with its minutes.
  if (half === undefined && (h.length === 1 || (s === undefined && mark === ''))) return null;
  if (s === undefined && (more !== undefined || fraction !== undefined)) return null;
  if (half !== undefined && (Number(h) < 1 || Number(h) > 12)) return null;
  const hour = half === undefined ? Number(h) : (Number(h) % 12) + (/p/i.test(half) ? 12 : 0);
  const part = Number(`0.${fraction ?? (more?.length === 3 ? more : 0)}`);
  const clock: WallClock = { ...dateOf(groups), hour, minute: Number(m), second: Number(s ?? 0) + part };
  if (checkedWallClock(clock) === undefined) return null;
  const order = more?.length === 2 ? { order: Number(more) } : {};
  const read = offset === undefined ? readClock(clock, timeZone) : { at: instantOf(clock, 'UTC') - offsetOf(offset) };
  return { ...read, ...order, index };
}

/** The day comes first, except where AM and PM are used, or where it can be no month. */
function dateOf(groups: Record<string, string | undefined>): Pick<WallClock, 'year' | 'month' | 'day'> {
  const [year, month, day, first, second, last] = ['year', 'month', 'day', 'first', 'second', 'last'].map((name) =>
    Number(groups[name] ?? 0),
  ) as [...[number, number, number], ...[number, number, number]];
  if (year > 0) return { year, month, day };
  const isMonthFirst = second > 12 || (groups.half !== undefined && first <= 12);
  return isMonthFirst ? { year: last, month: first, day: second } : { year: last, month: second, day: first };
}
