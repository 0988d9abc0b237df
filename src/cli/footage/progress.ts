/** Progress of a run over footage: share of the recorded time, rate, and changes found. */
import { counted } from '../../base/counted.js';
import type { FootageSequence } from '../../footage/inputs/recording-plan.js';
import type { Counts } from '../../footage/run/checkpoint.js';
import { startProgress } from '../progress.js';

export interface FootageProgress {
  /** @param at capture time that the camera has reached, epoch ms */
  reach(camera: string, counts: Counts, at: number | null): void;
  end(): void;
}

export function startFootageProgress(sequences: readonly FootageSequence[], silent: boolean): FootageProgress {
  if (silent) return { reach: () => {}, end: () => {} };
  const recorded = new Map(sequences.map((sequence) => [sequence.camera, recordedTime(sequence)]));
  const total = [...recorded.values()].reduce((all, { seconds }) => all + seconds, 0);
  const progress = startProgress(Math.round(total), 's of footage');
  const reached = new Map<string, number>();
  const changes = new Map<string, number>();
  const startedAt = performance.now();
  let shown = 0;
  let first: number | null = null;
  return {
    reach(camera, counts, at) {
      const time = recorded.get(camera);
      if (time === undefined || at === null) return;
      reached.set(camera, time.until(at));
      changes.set(camera, counts.changes);
      const done = Math.round(sum(reached));
      first ??= done;
      const rate = (done - first) / ((performance.now() - startedAt) / 1000);
      progress.step(done - shown, `${rate.toFixed(0)} x real time, ${counted(sum(changes), 'change')}`);
      shown = done;
    },
    end: () => progress.end(),
  };
}

const sum = (values: ReadonlyMap<string, number>): number =>
  [...values.values()].reduce((all, value) => all + value, 0);

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
