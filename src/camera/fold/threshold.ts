/** The threshold of a camera's frame, and findings judged by another one than they were made with. Pure. */
import type { Finding } from '../../schemas/comparison.js';
import { type BudgetThreshold, budgetThreshold, type CameraHistory } from '../settings/alarm-budget.js';
import type { OperatingPoint } from '../settings/operating-points.js';
import type { CameraSettings } from '../settings/settings.js';
import { typicalInterval } from './answer.js';

/** Rate of the camera's frames and of its high confidences, from the earlier frames. */
export interface ThresholdHistory extends CameraHistory {
  /** the frame before this one; null: there is none */
  readonly last: { readonly at: number } | null;
}

export interface FrameThreshold {
  /** typical time between two frames, this one included, ms; null before the second frame */
  readonly intervalMs: number | null;
  /** threshold of the false-alarm budget; null: the settings have no budget, or the rate of frames is unknown */
  readonly budget: BudgetThreshold | null;
  /** of the calibrated probability, 0..1; null: the bundle decides */
  readonly threshold: number | null;
}

/**
 * A threshold of the settings has priority over the false-alarm budget. The confidence of this frame does not count
 * yet, so that the threshold is known before the frame is examined.
 * @param at time of the frame, ms since the epoch
 * @param points of the camera's bundle
 */
export function frameThreshold(
  settings: CameraSettings,
  history: ThresholdHistory,
  at: number,
  points: readonly OperatingPoint[],
): FrameThreshold {
  const intervalMs = typicalInterval(history, at, settings.gap_s * 1000);
  const budget = budgetThreshold(settings, { intervalMs, counts: history.counts }, points);
  return { intervalMs, budget, threshold: settings.threshold ?? budget?.threshold ?? null };
}

/** A finding of a comparison, by this threshold instead of its own. A tampered view has no threshold. */
export function judgedAt(finding: Finding, threshold: number | null): Finding {
  const { verdict, confidence, nuisance } = finding;
  if (threshold === null || verdict !== 'change' || confidence >= threshold) return finding;
  const { statements: _statements, facts: _facts, ...rest } = finding;
  return { ...rest, verdict: nuisance.length > 0 ? 'nuisance' : 'none', kind: 'none', regions: [] };
}
