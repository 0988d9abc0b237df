/** Times of the last comparisons by stage. Pure. */
import type { Comparison } from '../api/types.js';

export interface StageTime {
  readonly stage: string;
  /** milliseconds */
  readonly median: number;
  readonly p95: number;
}

/**
 * A stage that a comparison did not need has a time of 0 there, or none: a quiet frame runs no model.
 * @returns the stages in the order of a comparison, each over the comparisons that ran it; empty without any
 */
export function latencyOf(comparisons: readonly Pick<Comparison, 'timings_ms'>[]): StageTime[] {
  const timings = comparisons.flatMap(({ timings_ms }) => timings_ms ?? []);
  const stages = Object.keys(Object.assign({}, ...timings)) as (keyof NonNullable<Comparison['timings_ms']>)[];
  return stages.map((stage) => {
    const values = timings.flatMap((one) => one[stage] || []).sort((a, b) => a - b);
    return { stage, median: quantile(values, 0.5), p95: quantile(values, 0.95) };
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? 0;
