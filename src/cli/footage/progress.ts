/** Progress of a run over footage: share of the recorded time, rate, and changes found. */
import { counted } from '../../base/counted.js';
import { recordedTime } from '../../footage/inputs/recorded-time.js';
import type { FootageSequence } from '../../footage/inputs/recording-plan.js';
import type { Counts } from '../../schemas/batch.js';
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
