/**
 * False-alarm budget: the threshold that follows from an accepted number of false alarms per day, the bundle's measured
 * rates and the camera's own frames. Pure.
 */
import { DAY_MS } from '../../base/clock.js';
import { logitOf, sigmoid } from '../../base/logistic.js';
import { type OperatingPoint, strictestFirst } from './operating-points.js';
import { type ConfidenceCounts, rateRatio, scaledPoints } from './rate-ratio.js';
import type { CameraSettings } from './settings.js';

/** Part of the stored camera state. */
export interface BudgetThreshold {
  /** of the calibrated probability, 0..1 */
  readonly threshold: number;
  /** expected at this threshold before confirmation; above the budget if no stricter point was measured */
  readonly false_alarms_per_day: number;
}

/** Consequences of a camera's budget, as the answers about the camera describe them. */
export interface FalseAlarmBudget {
  /** null: unknown, see `detail` */
  readonly threshold: number | null;
  readonly false_alarms_per_day: number | null;
  readonly met: boolean | null;
  /** how many times as often as the measured pairs the camera's own frames look changed; 1: none were counted */
  readonly rate_ratio: number;
  /** number of its own frames that were counted */
  readonly frames: number;
  readonly detail: string;
}

/** Measurements of the frames of a camera that the threshold follows from. */
export interface CameraHistory {
  /** typical time between two frames, ms; null before the second frame */
  readonly intervalMs: number | null;
  /** absent before the first frame */
  readonly counts?: ConfidenceCounts | undefined;
}

type BudgetSettings = Pick<CameraSettings, 'false_alarms_per_day' | 'snapshot'>;

/** @returns the time between two frames that the budget is computed with, ms; null before it is known */
const frameInterval = ({ snapshot }: Pick<CameraSettings, 'snapshot'>, measuredMs: number | null) =>
  snapshot === null ? measuredMs : snapshot.interval_s * 1000;

/** @returns null without a false-alarm budget, before the frame rate is known, and without operating points */
export function budgetThreshold(
  settings: BudgetSettings,
  { intervalMs, counts }: CameraHistory,
  points: readonly OperatingPoint[],
): BudgetThreshold | null {
  const everyMs = frameInterval(settings, intervalMs);
  if (settings.false_alarms_per_day === null || everyMs === null) return null;
  return thresholdFor(settings.false_alarms_per_day, DAY_MS / everyMs, scaledPoints(points, rateRatio(counts, points)));
}

/** @param points of the camera's bundle; null if no live worker has reported them */
export function describeBudget(
  settings: BudgetSettings & { readonly false_alarms_per_day: number },
  history: CameraHistory,
  points: readonly OperatingPoint[] | null,
): FalseAlarmBudget {
  const { false_alarms_per_day: budget } = settings;
  const { ratio, frames } = rateRatio(history.counts, points ?? []);
  const counted = { rate_ratio: ratio, frames };
  const unknown = (detail: string, met: false | null = null) => ({
    threshold: null,
    false_alarms_per_day: null,
    met,
    ...counted,
    detail: `${detail}; the threshold of the bundle applies`,
  });
  if (points === null) return unknown('the measured rates are unknown, because no worker has the bundle yet');
  const [point] = strictestFirst(scaledPoints(points, { ratio, frames }));
  if (point === undefined) return unknown('the bundle has no measured false-alarm rates', false);
  const strictest = point.false_alarm_rate;
  const seconds = (strictest / budget) * (DAY_MS / 1000);
  const needs =
    `${budget} per day can be met with one frame every ${figure(seconds)} s or less often ` +
    `(strictest rate: ${figure(strictest * 100)} % of frames, ${sourceOf(counted)})`;
  const found = budgetThreshold(settings, history, points);
  if (found === null) return unknown(`${needs}; the rate of the frames is unknown before the second frame`);
  const expected = `${figure(found.false_alarms_per_day)} false alarms per day are expected before confirmation`;
  // Equal except for rounding, if the budget lies between two operating points.
  const met = found.false_alarms_per_day <= budget * (1 + 1e-9);
  return {
    ...found,
    met,
    ...counted,
    detail: met ? expected : `${expected}, and no stricter threshold was measured: ${needs}`,
  };
}

const sourceOf = ({ rate_ratio, frames }: Pick<FalseAlarmBudget, 'rate_ratio' | 'frames'>): string =>
  frames === 0
    ? 'as measured with the bundle'
    : `${figure(rate_ratio)} times that of the bundle, by ${frames} own frames`;

/** Two significant digits, never with an exponent. */
const figure = (value: number): string => String(Number(value.toPrecision(2)));

/**
 * Interpolates between the two nearest operating points: the logit of the threshold is linear in the logarithm of the
 * rate. Outside of the measured range the nearest point is returned, because nothing is known there.
 * @param points in any order
 * @returns null without operating points
 */
export function thresholdFor(
  falseAlarmsPerDay: number,
  framesPerDay: number,
  points: readonly OperatingPoint[],
): BudgetThreshold | null {
  const rate = falseAlarmsPerDay / framesPerDay;
  const sorted = strictestFirst(points);
  const above = sorted.findIndex((point) => point.false_alarm_rate >= rate);
  const strict = sorted[above === -1 ? sorted.length - 1 : Math.max(0, above - 1)];
  const loose = sorted[above === -1 ? sorted.length - 1 : above];
  if (strict === undefined || loose === undefined) return null;
  if (strict === loose) {
    return { threshold: strict.threshold, false_alarms_per_day: strict.false_alarm_rate * framesPerDay };
  }
  const share = Math.log(rate / strict.false_alarm_rate) / Math.log(loose.false_alarm_rate / strict.false_alarm_rate);
  const between = logitOf(strict.threshold) + share * (logitOf(loose.threshold) - logitOf(strict.threshold));
  return { threshold: sigmoid(between), false_alarms_per_day: rate * framesPerDay };
}
