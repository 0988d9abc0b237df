/** Times of a recording as the report shows them: labels, and the hours of its timeline. Pure. */
import { localTimeAt, wallTimeIn } from '../../base/wall-clock.js';
import { type FootageSummary, type Moment, timeOf } from '../records.js';

/** Times of one camera: capture times, or else the files one after the other from 0. */
export interface Clock {
  time(moment: Moment): number;
  label(time: number): string;
  /** HH:MM, or the position as H:MM:SS */
  short(time: number): string;
  /** the time as local time, ms, for full hours */
  local(time: number): number;
}

export const NO_CLOCK: Clock = {
  time: ({ seconds }) => seconds * 1000,
  label: (time) => hours(time / 1000),
  short: (time) => hours(time / 1000),
  local: (time) => time,
};

export function clockOf({ files, timezone = 'UTC' }: FootageSummary['cameras'][number]): Clock {
  if (files.every(({ at }) => at === null)) {
    let total = 0;
    const begins = new Map<string, number>();
    for (const { file, duration } of files) {
      begins.set(file, total);
      total += (duration ?? 1) * 1000;
    }
    return { ...NO_CLOCK, time: ({ file, seconds }) => (begins.get(file) ?? 0) + seconds * 1000 };
  }
  return {
    time: timeOf,
    label: (time) => wallTimeIn(time, timezone),
    short: (time) => wallTimeIn(time, timezone).slice('YYYY-MM-DD '.length, 'YYYY-MM-DD HH:MM'.length),
    local: (time) => localTimeAt(time, timezone).getTime(),
  };
}

/** Lengths between two ticks, from which the shortest is taken that gives few of them, ms. */
const STEPS = [1, 5, 15, 60, 180, 360, 720, 1440, 10_080].map((minutes) => minutes * 60_000);
const MOST_TICKS = 9;

export function ticksOf([from, to]: readonly [number, number], clock: Clock): (readonly [number, string])[] {
  const step = STEPS.find((length) => (to - from) / length <= MOST_TICKS);
  if (step === undefined || to <= from) return [];
  // Full hours of local time. A change of the clock within the recording moves the later ones.
  const offset = clock.local(from) - from;
  const first = Math.ceil((from + offset) / step) * step - offset;
  const ticks = Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, i) => first + i * step);
  return ticks.map((time) => [time, step >= 1440 * 60_000 ? clock.label(time).slice(5, 10) : clock.short(time)]);
}

/** H:MM:SS */
export function hours(seconds: number): string {
  const full = Math.floor(seconds);
  const pad = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(full / 3600)}:${pad((full / 60) % 60)}:${pad(full % 60)}`;
}
