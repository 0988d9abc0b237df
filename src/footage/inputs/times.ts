/** Times and durations of options: `HH:MM:SS.nnn`, `12.5s`, a frame number, or a time of day of the calendar. */
import { invalidRequest } from '../../base/errors.js';
import { checkedWallClock, instantOf, offsetOf } from '../../base/wall-clock.js';

/** A position in a recording: seconds from its beginning, a number of a frame from 0, or a capture time (epoch ms). */
export type TimeOption = { readonly seconds: number } | { readonly frame: number } | { readonly at: number };

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const CALENDAR = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * @param option its name, for the message
 * @param timeZone of a calendar time without an offset
 * @throws ScenedeltaError 'invalid-request'
 */
export function parseTimeOption(text: string, option: string, timeZone: string): TimeOption {
  if (/^\d+$/.test(text)) return { frame: Number(text) };
  const seconds = secondsOf(text);
  if (seconds !== null) return { seconds };
  const at = parseCalendarTime(text, timeZone);
  if (at !== null) return { at };
  const expected = 'HH:MM:SS.nnn, seconds as 12.5s, the number of a frame, or a time as 2026-06-01T12:00:00';
  throw invalidRequest(`${option} ${JSON.stringify(text)}: expected ${expected}`);
}

/** @returns epoch ms; null if it is no calendar time */
export function parseCalendarTime(text: string, timeZone: string): number | null {
  const match = CALENDAR.exec(text);
  if (match === null) return null;
  const [year, month, day, hour = '0', minute = '0', second = '0', offset] = match.slice(1);
  const clock = checkedWallClock({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  });
  if (clock === undefined) return null;
  if (offset === undefined) return instantOf(clock, timeZone);
  return instantOf(clock, 'UTC') - offsetOf(offset);
}

/**
 * @returns seconds > 0
 * @throws ScenedeltaError 'invalid-request'
 */
export function parseDuration(text: string, option: string): number {
  const seconds = secondsOf(text);
  if (seconds !== null && seconds > 0) return seconds;
  const expected = 'a duration above 0 as 10s, 500ms, 5m, 2h or HH:MM:SS';
  throw invalidRequest(`${option} ${JSON.stringify(text)}: expected ${expected}`);
}

function secondsOf(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit !== undefined) return Number(amount) * (UNITS[unit] as number);
  const clock = /^(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?)$/.exec(text);
  if (clock === null) return null;
  const [hours, minutes, seconds] = clock.slice(1).map(Number) as [number, number, number];
  return hours * 3600 + minutes * 60 + seconds;
}
