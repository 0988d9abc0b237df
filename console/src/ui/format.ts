/** Figures and times as people read them. */
import { systemClock } from '../../../src/base/clock.js';
import { locale } from '../texts/texts.js';

/** @param digits after the decimal sign */
const figure = (value: number, digits: number): string =>
  value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const percent = (share: number): string => `${figure(share * 100, share > 0.995 && share < 1 ? 1 : 0)} %`;

const MiB = 1024 * 1024;
export const shownSize = (bytes: number): string =>
  bytes < MiB ? `${Math.ceil(bytes / 1024)} kB` : `${figure(bytes / MiB, bytes < 10 * MiB ? 1 : 0)} MB`;

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
export const shownTime = (iso: string): string => dateTime.format(new Date(iso));
/** @returns both times; what they have in common, such as the day, once */
export const shownSpan = (from: string, to: string): string => dateTime.formatRange(new Date(from), new Date(to));

const timeOnly = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
/** @param now epoch ms. @returns both times for a narrow line, without the day if it is today */
export function shortSpan(from: string, to: string, now = systemClock()): string {
  const [start, end] = [new Date(from), new Date(to)];
  const isToday = start.toDateString() === new Date(now).toDateString() && start.toDateString() === end.toDateString();
  return isToday ? timeOnly.formatRange(start, end) : shownSpan(from, to);
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

/** @param now epoch ms. @returns e.g. '3 minutes ago' */
export function ago(iso: string, now = systemClock()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return relative.format(seconds, 'second');
}

/** @returns e.g. '3 min' */
export function shownDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${figure(seconds / 3600, seconds < 36_000 ? 1 : 0)} h`;
}
