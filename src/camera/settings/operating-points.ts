/** Operating points of a bundle: its thresholds with the false-alarm rates that were measured for them. Pure. */

/** One threshold with the false-alarm rate that was measured for it on held-out pairs without change. */
export interface OperatingPoint {
  /** share of comparisons, 0..1 */
  readonly false_alarm_rate: number;
  /** of the calibrated probability, 0..1 */
  readonly threshold: number;
}

/** @returns those with a false-alarm rate above 0, the strictest first */
export const strictestFirst = (points: readonly OperatingPoint[]): readonly OperatingPoint[] =>
  points.filter((point) => point.false_alarm_rate > 0).sort((a, b) => a.false_alarm_rate - b.false_alarm_rate);
