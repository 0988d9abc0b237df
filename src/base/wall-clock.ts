/** Time zones: an instant as the wall clock of a zone shows it, and back. Pure. */
import { DAY_MS } from './clock.js';
import { ScenedeltaError } from './errors.js';

export interface WallClock {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** with a fraction */
  readonly second: number;
}

/** @returns undefined unless it is a time of the calendar */
export function checkedWallClock(clock: WallClock): WallClock | undefined {
  const { year, month, day, hour, minute, second } = clock;
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists && hour < 24 && minute < 60 && second < 61 ? clock : undefined;
}

/**
 * @param timeZone IANA name. Of the hour that a zone has twice in autumn, the first one is meant.
 * @returns epoch ms
 */
export function instantOf({ year, month, day, hour, minute, second }: WallClock, timeZone: string): number {
  const local = Date.UTC(year, month - 1, day, hour, minute) + Math.round(second * 1000);
  if (timeZone === 'UTC') return local;
  // The offset of the day before is the one before a clock change on this day.
  const earlier = local - offsetAt(local - DAY_MS, timeZone);
  if (earlier + offsetAt(earlier, timeZone) === local) return earlier;
  const later = local - offsetAt(local, timeZone);
  return later + offsetAt(later, timeZone) === local ? later : earlier;
}

/** twice: the hour that a zone has twice in autumn; missing: the one that it skips in spring. */
export type ClockDoubt = 'twice' | 'missing';

/** @returns the instant as instantOf does, and whether the zone has this wall-clock time twice or not at all */
export function readClock(clock: WallClock, timeZone: string): { at: number; doubt?: ClockDoubt } {
  const at = instantOf(clock, timeZone);
  const local = instantOf(clock, 'UTC');
  if (at + offsetAt(at, timeZone) !== local) return { at, doubt: 'missing' };
  const back = offsetAt(at, timeZone) - offsetAt(at + DAY_MS, timeZone);
  const isTwice = back > 0 && at + back + offsetAt(at + back, timeZone) === local;
  return isTwice ? { at, doubt: 'twice' } : { at };
}

/** By time zone: creating a format takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    ...parts,
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/** @returns local time minus UTC at an instant, ms */
function offsetAt(at: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts as Partial<WallClock>;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** @param text as GMT+1, +0530, +05.30, -03:00 or Z. @returns local time minus UTC, ms */
export function offsetOf(text: string): number {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d{1,2})[-:.]?(\d{2})?$/.exec(text) ?? [];
  return (sign === '-' ? -60_000 : 60_000) * (Number(hours) * 60 + Number(minutes));
}

/** @param at epoch ms. @returns a date whose UTC fields are the local time. @throws RangeError for an unknown zone */
export const localTimeAt = (at: number, timeZone: string): Date => new Date(at + offsetAt(at, timeZone));

/** @param at epoch ms. @returns ISO 8601 with the offset of the zone: '2026-06-01T14:00:00.000+02:00' */
export function isoTimeIn(at: number, timeZone: string): string {
  const offset = offsetAt(at, timeZone);
  if (offset === 0) return new Date(at).toISOString();
  const length = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${new Date(at + offset).toISOString().slice(0, -1)}${offset < 0 ? '-' : '+'}${length}`;
}

/** @param at epoch ms. @returns wall time with its zone, for people: '2026-06-01 14:00:00 Europe/Berlin' */
export const wallTimeIn = (at: number, timeZone: string): string =>
  `${isoTimeIn(at, timeZone).slice(0, 19).replace('T', ' ')} ${timeZone}`;

/** Whether it is the IANA name of a known zone. Intl also accepts offsets ('+02:00'), which have no summer time. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** @throws ScenedeltaError 'invalid-request' */
export function assertTimeZone(name: string, option: string): string {
  try {
    formatOf(name);
    return name;
  } catch (cause) {
    const came = JSON.stringify(name);
    const expected = 'expected an IANA time zone such as Europe/Berlin';
    throw new ScenedeltaError('invalid-request', `${option} ${came}: ${expected}`, { cause });
  }
}

export const localTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param at epoch ms @returns RFC 3339 in UTC */
export const isoTime = (at: number): string => new Date(at).toISOString();
