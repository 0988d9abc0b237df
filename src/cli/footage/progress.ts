/** Progress of a run over footage: share of the recorded time, rate, and changes found. */
import type { Counts } from '../../footage/checkpoint.js';
import type { FootageItem, FootageSequence } from '../../footage/recording-plan.js';
import { startProgress } from '../progress.js';

export interface FootageProgress {
  /** @param at capture time that the camera has reached, epoch ms */
  reach(camera: string, counts: Counts, at: number | null): void;
  end(): void;
}

export function startFootageProgress(sequences: readonly FootageSequence[], silent: boolean): FootageProgress {
  if (silent) return { reach: () => {}, end: () => {} };
  const spans = new Map(sequences.map((sequence) => [sequence.camera, spanOf(sequence)]));
  const total = [...spans.values()].reduce((sum, { from, until }) => sum + seconds(until - from), 0);
  const progress = startProgress(Math.round(total), 's of footage');
  const reached = new Map<string, number>();
  const changes = new Map<string, number>();
  const startedAt = performance.now();
  let shown = 0;
  let first: number | null = null;
  return {
    reach(camera, counts, at) {
      const span = spans.get(camera);
      if (span === undefined || at === null) return;
      reached.set(camera, seconds(Math.min(at, span.until) - span.from));
      changes.set(camera, counts.changes);
      const done = Math.round(sum(reached));
      first ??= done;
      const rate = (done - first) / ((performance.now() - startedAt) / 1000);
      progress.step(done - shown, `${rate.toFixed(0)} x real time, ${sum(changes)} changes`);
      shown = done;
    },
    end: () => progress.end(),
  };
}

const sum = (values: ReadonlyMap<string, number>): number =>
  [...values.values()].reduce((all, value) => all + value, 0);
const seconds = (ms: number): number => Math.max(0, ms / 1000);

function spanOf({ items, range, endsAt }: FootageSequence): { readonly from: number; readonly until: number } {
  const from = Math.max(range.from, (items[0] as FootageItem).at);
  return { from, until: Math.max(from, endsAt) };
}
