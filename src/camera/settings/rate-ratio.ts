/**
 * Rate ratio of a camera: how many times as often its own frames reach a confidence by mistake as the pairs did on
 * which the bundle's operating points were measured. It needs no labels: confidences between the loosest and the
 * strictest operating point are nearly all mistakes, because a real change is usually above both. Pure.
 *
 * The estimate is the posterior mean of a Poisson rate with a gamma prior of mean 1, as for standardised incidence
 * ratios (Clayton & Kaldor 1987, Biometrics 43): 1 without frames, the observed ratio with many.
 */
import type { Finding } from '../../schemas/comparison.js';
import { type OperatingPoint, strictestFirst } from './operating-points.js';

/** Counts over the frames of a camera; part of its stored state. */
export interface ConfidenceCounts {
  /** thresholds of the loosest and the strictest operating point: with others the counts start again */
  readonly low: number;
  readonly high: number;
  /** examined or quiet */
  readonly frames: number;
  /** frames whose confidence is from `low` to below `high`, while that of the frame before was below `low` */
  readonly risen: number;
  /** whether the confidence of the last examined frame was `low` or more */
  readonly above: boolean;
}

export interface RateRatio {
  /** 1: as often as the measured pairs */
  readonly ratio: number;
  /** number of frames that it was estimated from; older ones count less */
  readonly frames: number;
}

/**
 * Both parameters of the gamma distribution: mistakes that the prior counts as expected and as seen. Of 0.5, 1, 2 and 4
 * the least one with which synthetic cameras (`npm run bench -- budget`, another seed) had at most 1.2 times the false
 * alarms that they have without counts, or that are accepted. The likelihood of the counts is largest at 0.3, but sure
 * mistakes vary less between cameras than the counted ones.
 */
const PRIOR = 2;
/** At this number of frames all counts are halved, so that a season that is over stops to count. */
const MOST_FRAMES = 40_000;

/**
 * Counts a frame.
 * @param finding of the comparison; null: the frame was quiet, or there was nothing to compare it with. The confidence
 *   of a tampered view is not that of a change and does not count.
 * @returns undefined if the operating points do not span a range
 */
export function countConfidence(
  before: ConfidenceCounts | undefined,
  finding: Pick<Finding, 'verdict' | 'confidence'> | null,
  points: readonly OperatingPoint[],
): ConfidenceCounts | undefined {
  const span = spanOf(points);
  if (span === null) return undefined;
  const { low, high } = span;
  const confidence = finding === null || finding.verdict === 'tamper' ? null : finding.confidence;
  const isContinued = before !== undefined && before.low === low && before.high === high;
  const { frames, risen, above } = isContinued ? before : { frames: 0, risen: 0, above: false };
  const isRising = confidence !== null && confidence >= low && confidence < high && !above;
  const counted = {
    low,
    high,
    frames: frames + 1,
    risen: risen + (isRising ? 1 : 0),
    above: confidence === null ? above : confidence >= low,
  };
  if (counted.frames < MOST_FRAMES) return counted;
  return { ...counted, frames: counted.frames / 2, risen: counted.risen / 2 };
}

/** @returns a ratio of 1 without frames, and if they were counted with other operating points */
export function rateRatio(counts: ConfidenceCounts | undefined, points: readonly OperatingPoint[]): RateRatio {
  const span = spanOf(points);
  if (span === null || counts === undefined || counts.low !== span.low || counts.high !== span.high) {
    return { ratio: 1, frames: 0 };
  }
  const expected = counts.frames * span.rate;
  return { ratio: (PRIOR + counts.risen) / (PRIOR + expected), frames: counts.frames };
}

/** @returns the operating points with the false-alarm rates that are expected of a camera with this ratio */
export const scaledPoints = (points: readonly OperatingPoint[], { ratio }: RateRatio): readonly OperatingPoint[] =>
  points.map((point) => ({ ...point, false_alarm_rate: point.false_alarm_rate * ratio }));

/** @returns the confidences to count, and the share of measured pairs that had one of them; null: there are none */
function spanOf(points: readonly OperatingPoint[]): { low: number; high: number; rate: number } | null {
  const sorted = strictestFirst(points);
  const [strictest, loosest] = [sorted[0], sorted.at(-1)];
  if (strictest === undefined || loosest === undefined) return null;
  const rate = loosest.false_alarm_rate - strictest.false_alarm_rate;
  if (rate <= 0 || loosest.threshold >= strictest.threshold) return null;
  return { low: loosest.threshold, high: strictest.threshold, rate };
}
