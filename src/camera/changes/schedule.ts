/** Weekly time windows in a camera's time zone. Pure: the time is an argument. */
import { localTimeAt } from '../../base/wall-clock.js';
import { DAYS, type TimeWindow } from '../settings/schedule.js';
import type { ChangeRules } from './rules.js';

const DAY_MINUTES = 24 * 60;

/**
 * Whether `at` (epoch ms) lies in one of the windows. Local time decides: minutes that a change to summer time skips
 * are in no window, and minutes that the change back repeats are in a window twice.
 * @throws RangeError if the platform does not know the time zone
 */
export function inWindows(at: number, timezone: string, windows: readonly TimeWindow[]): boolean {
  const local = localTimeAt(at, timezone);
  const day = (local.getUTCDay() + 6) % 7;
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes();
  return windows.some((window) => {
    const from = minutesOf(window.from);
    // a window that ends when it begins lasts a whole day
    const length = (minutesOf(window.to) - from + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
    return window.days.some((name) => {
      const sinceStart = ((day - DAYS.indexOf(name) + 7) % 7) * DAY_MINUTES + minute - from;
      return sinceStart >= 0 && sinceStart < length;
    });
  });
}

/** Whether alerts may be sent at `at` (epoch ms). */
export const isWatching = (at: number, rules: Pick<ChangeRules, 'schedule' | 'suspendUntil'>): boolean =>
  (rules.suspendUntil === null || at >= rules.suspendUntil) &&
  (rules.schedule === null || inWindows(at, rules.schedule.timezone, rules.schedule.windows));

/** @param clock HH:MM */
const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
