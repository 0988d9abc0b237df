/**
 * Alarm budget: the threshold that follows from an accepted number of false alarms per day and the bundle's measured
 * rates. Pure.
 */

/** One threshold with the false-alarm rate that was measured for it on held-out pairs without change. */
export interface OperatingPoint {
  /** share of comparisons, 0..1 */
  readonly false_alarm_rate: number;
  /** of the calibrated probability, 0..1 */
  readonly threshold: number;
}

/** Part of the stored camera state. */
export interface BudgetThreshold {
  /** of the calibrated probability, 0..1 */
  readonly threshold: number;
  /** expected at this threshold before confirmation; above the budget if no stricter point was measured */
  readonly alarms_per_day: number;
}

/**
 * Interpolates between the two nearest operating points: the logit of the threshold is linear in the logarithm of the
 * rate. Outside of the measured range the nearest point is returned, because nothing is known there.
 * @param points in any order
 * @returns null without operating points
 */
export function thresholdFor(
  alarmsPerDay: number,
  framesPerDay: number,
  points: readonly OperatingPoint[],
): BudgetThreshold | null {
  const rate = alarmsPerDay / framesPerDay;
  const sorted = points
    .filter((point) => point.false_alarm_rate > 0)
    .sort((a, b) => a.false_alarm_rate - b.false_alarm_rate);
  const above = sorted.findIndex((point) => point.false_alarm_rate >= rate);
  const strict = sorted[above === -1 ? sorted.length - 1 : Math.max(0, above - 1)];
  const loose = sorted[above === -1 ? sorted.length - 1 : above];
  if (strict === undefined || loose === undefined) return null;
  if (strict === loose) {
    return { threshold: strict.threshold, alarms_per_day: strict.false_alarm_rate * framesPerDay };
  }
  const share =
    Math.log(rate / strict.false_alarm_rate) / Math.log(loose.false_alarm_rate / strict.false_alarm_rate);
  const between = logit(strict.threshold) + share * (logit(loose.threshold) - logit(strict.threshold));
  return { threshold: 1 / (1 + Math.exp(-between)), alarms_per_day: rate * framesPerDay };
}

/** Clipped, because it is infinite at 0 and 1. */
function logit(probability: number): number {
  const p = Math.min(Math.max(probability, 1e-9), 1 - 1e-9);
  return Math.log(p / (1 - p));
}
