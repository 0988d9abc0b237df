/** Times of the last comparisons by stage. Pure. */
import type { Comparison } from '../api/types.js';

export interface StageTime {
  readonly stage: string;
  /** milliseconds */
  readonly median: number;
  readonly p95: number;
}

/** @returns the stages in the order of a comparison; empty without finished comparisons */
export function latencyOf(comparisons: readonly Pick<Comparison, 'timings_ms'>[]): StageTime[] {
  const timings = comparisons.flatMap(({ timings_ms }) => timings_ms ?? []);
  const stages = Object.keys(timings[0] ?? {}) as (keyof NonNullable<Comparison['timings_ms']>)[];
  return stages.map((stage) => {
    const values = timings.map((one) => one[stage] ?? 0).sort((a, b) => a - b);
    return { stage, median: quantile(values, 0.5), p95: quantile(values, 0.95) };
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? 0;
