/** The day of a brief: its begin and end in a time zone, clock changes included. Pure. */
import { invalidValue } from '../base/errors.js';
import { checkedWallClock, instantOf, isoTimeIn, localTimeAt } from '../base/wall-clock.js';
import type { DaySpan } from '../stores/changes/days.js';

export interface Day extends DaySpan {
  /** YYYY-MM-DD */
  readonly name: string;
  readonly timezone: string;
}

export const DAY_PATTERN = '^([0-9]{4}-[0-9]{2}-[0-9]{2}|today|yesterday)$';

/**
 * @param text YYYY-MM-DD, today or yesterday
 * @param timezone one that the platform knows
 * @param now epoch ms
 * @returns from midnight to midnight; a midnight that the clock skips is the moment after it, one that it repeats the
 *   first of the two
 * @throws ScenedeltaError 'invalid-value' if the calendar has no such day
 */
export function dayOf(text: string, timezone: string, now: number): Day {
  const name = text === 'today' || text === 'yesterday' ? dateOf(now, timezone) : text;
  const [year, month, date] = name.split('-').map(Number) as [number, number, number];
  if (checkedWallClock({ year, month, day: date, hour: 0, minute: 0, second: 0 }) === undefined) {
    throw invalidValue(`day is ${JSON.stringify(text)}, expected a day of the calendar`, 'day');
  }
  const first = new Date(Date.UTC(year, month - 1, date - (text === 'yesterday' ? 1 : 0)));
  const next = new Date(first.getTime() + 86_400_000);
  return {
    name: first.toISOString().slice(0, 10),
    timezone,
    from: midnight(first, timezone),
    until: midnight(next, timezone),
  };
}

/** @param date its UTC fields are the local date. @returns epoch ms */
export const midnight = (date: Date, timezone: string): number => hourOf(date, 0, timezone);

const hourOf = (date: Date, hour: number, timezone: string): number =>
  instantOf(
    {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour,
      minute: 0,
      second: 0,
    },
    timezone,
  );

/**
 * @param hour 0 to 23
 * @param now epoch ms
 * @returns from one such hour of local time to the next, of which the end is the latest that has passed
 */
export function dayUntil(hour: number, timezone: string, now: number): Day {
  const today = Date.parse(`${dateOf(now, timezone)}T00:00:00Z`);
  const [before, yesterday, last] = [2, 1, 0].map((days) =>
    hourOf(new Date(today - days * 86_400_000), hour, timezone),
  ) as [number, number, number];
  const [from, until] = last <= now ? [yesterday, last] : [before, yesterday];
  return { name: dateOf(until, timezone), timezone, from, until };
}

/** @returns YYYY-MM-DD */
export const dateOf = (at: number, timezone: string): string => local(at, timezone).slice(0, 10);
/** @returns HH:MM; with the offset from UTC, as 02:30+01:00, in an hour that the zone has twice */
export function clockOf(at: number, timezone: string): string {
  const shown = local(at, timezone);
  const isTwice = CLOCK_CHANGES_MS.some((change) =>
    [at - change, at + change].some((other) => local(other, timezone) === shown),
  );
  return shown.slice(11, 16) + (isTwice ? isoTimeIn(at, timezone).slice(ISO_LENGTH) : '');
}
/** Lengths by which zones set their clocks back. */
const CLOCK_CHANGES_MS = [1_800_000, 3_600_000];
const ISO_LENGTH = 'YYYY-MM-DDTHH:MM:SS.mmm'.length;

/** @returns 'YYYY-MM-DDTHH:MM' */
const local = (at: number, timeZone: string): string => localTimeAt(at, timeZone).toISOString().slice(0, 16);
