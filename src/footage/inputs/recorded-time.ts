/** The recorded time of a sequence and its number of sampled frames, both estimated from its plan. Pure. */
import { AUTO_KEY_FRAMES_S, AUTO_STEP_S, cellAt } from '../video/sampling.js';
import type { Every, FootageSequence } from './recording-plan.js';

/**
 * Recorded time of a camera, by the begins of its files. A pause counts as the longest usual file, so
 * that one file of a wrong clock makes no half year of it.
 * @returns its length in seconds, and the part of it before a capture time (epoch ms; these only increase)
 */
export function recordedTime({ items, range, endsAt, gapMs }: FootageSequence) {
  const begins = items.map(({ at }) => Math.max(range.from, at));
  const lengths = begins.map((at, i) => Math.max(0, (begins[i + 1] ?? endsAt) - at));
  const median = lengths.slice(0, -1).sort((a, b) => a - b)[(lengths.length - 1) >> 1] ?? 0;
  const most = Math.max(gapMs, median, lengths.at(-1) ?? 0);
  const counts = lengths.map((length) => Math.min(length, most));
  let [item, before] = [0, 0];
  return {
    seconds: counts.reduce((all, count) => all + count, 0) / 1000,
    until(at: number): number {
      for (; at >= (begins[item + 1] ?? Number.POSITIVE_INFINITY); item++) before += counts[item] as number;
      const inside = Math.max(0, at - (begins[item] ?? at));
      return (before + Math.min(inside, counts[item] ?? 0)) / 1000;
    },
  };
}

/**
 * Number of frames that will be looked at, as far as the plan shows it.
 * @param keyFrameSeconds time between two key frames of its videos; null: unknown
 * @returns null if the plan does not show it
 */
export function expectedFrames(sequence: FootageSequence, every: Every, keyFrameSeconds: number | null): number | null {
  const { items, range } = sequence;
  const step = every.mode === 'seconds' ? every.seconds : null;
  if (items.every(({ kind }) => kind === 'image')) {
    const times = items.map(({ at }) => at).filter((at) => at >= range.from && at < range.until);
    return step === null ? times.length : new Set(times.map((at) => cellAt(at, step))).size;
  }
  const period = step ?? periodOf(every, keyFrameSeconds);
  return period === null ? null : Math.max(1, Math.round(recordedTime(sequence).seconds / period));
}

/** @returns seconds between two frames of a video; null: unknown */
function periodOf({ mode }: Every, keyFrameSeconds: number | null): number | null {
  if (mode === 'all' || keyFrameSeconds === null) return null;
  if (mode === 'keyframes') return keyFrameSeconds;
  return keyFrameSeconds <= AUTO_KEY_FRAMES_S ? Math.max(AUTO_STEP_S, keyFrameSeconds) : AUTO_STEP_S;
}
