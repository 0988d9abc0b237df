/** From "so many false alarms a day" to a threshold, through what was measured of the bundle. Pure. */

/** One threshold with what it costs: false alarms among pairs without change, as measured on held-out pairs. */
export interface OperatingPoint {
  /** per comparison, 0..1 */
  readonly false_alarm_rate: number;
  /** of the calibrated probability, 0..1 */
  readonly threshold: number;
}

export interface BudgetThreshold {
  readonly threshold: number;
  /** to be expected at this threshold, before confirmation; more than was asked for where nothing stricter was measured */
  readonly alarms_per_day: number;
}

/**
 * Between two points that were measured the logit of the threshold follows the logarithm of the rate; beyond them nothing is known, and
 * the nearest is taken.
 * @param points in any order. @returns null where there are none.
 */
export function thresholdFor(
  alarmsPerDay: number,
  framesPerDay: number,
  points: readonly OperatingPoint[],
): BudgetThreshold | null {
  const wanted = alarmsPerDay / framesPerDay;
  const sorted = [...points]
    .filter((point) => point.false_alarm_rate > 0)
    .sort((a, b) => a.false_alarm_rate - b.false_alarm_rate);
  const at = (threshold: number, rate: number): BudgetThreshold => ({
    threshold,
    alarms_per_day: rate * framesPerDay,
  });
  const above = sorted.findIndex((point) => point.false_alarm_rate >= wanted);
  const strict = sorted[above === -1 ? sorted.length - 1 : Math.max(0, above - 1)];
  const loose = sorted[above === -1 ? sorted.length - 1 : above];
  if (strict === undefined || loose === undefined) return null;
  if (strict === loose) return at(strict.threshold, strict.false_alarm_rate);
  const share =
    Math.log(wanted / strict.false_alarm_rate) / Math.log(loose.false_alarm_rate / strict.false_alarm_rate);
  const between = logit(strict.threshold) + share * (logit(loose.threshold) - logit(strict.threshold));
  return at(1 / (1 + Math.exp(-between)), wanted);
}

/** Kept off 0 and 1, where it is infinite. */
function logit(probability: number): number {
  const p = Math.min(Math.max(probability, 1e-9), 1 - 1e-9);
  return Math.log(p / (1 - p));
}
