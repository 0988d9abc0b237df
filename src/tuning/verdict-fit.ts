/**
 * Fit of the verdict to feedback: the calibration of the probability of a change (Platt 1999), by maximum a posteriori
 * with a Gaussian prior at the bundle's own calibration, and an offset per camera that is shrunk to 0 in the same way.
 * Feedback exists only above the threshold that made the alarms; it is selected by the logit alone, so the probability
 * given the logit is not biased by that, but nothing is known below.
 */
import { logitOf, sigmoid } from '../logistic.js';
import type { BundleManifest } from '../model/manifest.js';

type Calibration = BundleManifest['calibration'];

/** An alarm that an operator judged. */
export interface JudgedAlarm {
  readonly camera: string;
  /** probability of a change by the bundle, 0..1 */
  readonly confidence: number;
  readonly changed: boolean;
}

/** New log-odds of a change: slope * log-odds + offset; (1, 0) leaves them as they are. */
export interface VerdictFit {
  readonly slope: number;
  readonly offset: number;
}

/** Standard deviations of the priors. A slope seldom differs by a quarter; cameras differ by less than the whole. */
const PRIOR = { slope: 0.25, offset: 1, camera: 0.7 };
/** Share of the right alarms that a new threshold may lose. */
const MOST_LOST = 0.03;
/** Fewer alarms decide nothing. */
export const LEAST_ALARMS = 20;
export const LEAST_FALSE = 5;
const LEAST_OF_CAMERA = 10;
/** An offset that moves a camera's threshold less than this is noise. */
const LEAST_OFFSET = 0.2;
const LEAST_SLOPE = 0.25;
const LARGEST_OFFSET = 50;
const STEPS = 50;

/**
 * The fit of all cameras together. The threshold, as the log-odds that reach it, rises and never falls; it rises at
 * most until MOST_LOST of the right alarms are lost, or to the strictest operating point.
 * @returns null if there are too few alarms, or if the threshold does not rise
 */
export function fitVerdict(alarms: readonly JudgedAlarm[], calibration: Calibration): VerdictFit | null {
  const falseAlarms = alarms.filter(({ changed }) => !changed).length;
  if (alarms.length < LEAST_ALARMS || falseAlarms < LEAST_FALSE) return null;
  const fit = mostProbable(alarms);
  const level = logitOf(calibration.threshold);
  const border = (level - fit.offset) / fit.slope;
  if (border <= level) return null;
  const limit = highestBorder(alarms, calibration);
  if (limit <= level) return null;
  return border <= limit ? fit : { ...fit, offset: level - fit.slope * limit };
}

/** The highest log-odds by the bundle at which the threshold may lie. */
function highestBorder(alarms: readonly JudgedAlarm[], { operating_points, threshold }: Calibration): number {
  const right = alarms.filter(({ changed }) => changed).map(({ confidence }) => logitOf(confidence));
  const strictest = logitOf(Math.max(threshold, ...operating_points.map((point) => point.threshold)));
  const kept = right.sort((a, b) => a - b)[Math.floor(right.length * MOST_LOST)] ?? strictest;
  return Math.min(kept, strictest);
}

/** The fit of the least cost, which is convex: Newton's method, with steps that are halved until the cost falls. */
function mostProbable(alarms: readonly JudgedAlarm[]): VerdictFit {
  let fit: VerdictFit = { slope: 1, offset: 0 };
  for (let step = 0; step < STEPS; step++) {
    const [slope, offset] = newtonStep(alarms, fit);
    let share = 1;
    const moved = () => ({ slope: fit.slope - share * slope, offset: fit.offset - share * offset });
    while (share > 1e-6 && costOf(alarms, moved()) > costOf(alarms, fit)) share /= 2;
    fit = moved();
  }
  // A slope that is not positive would order the alarms anew, by feedback that is about a part of them.
  return fit.slope >= LEAST_SLOPE ? fit : { slope: LEAST_SLOPE, offset: bestOffset(alarms, LEAST_SLOPE, PRIOR.offset) };
}

/** The negative log posterior. */
function costOf(alarms: readonly JudgedAlarm[], { slope, offset }: VerdictFit): number {
  const prior = ((slope - 1) / PRIOR.slope) ** 2 / 2 + (offset / PRIOR.offset) ** 2 / 2;
  return alarms.reduce((cost, { confidence, changed }) => {
    const z = slope * logitOf(confidence) + offset;
    return cost + Math.log1p(Math.exp(-Math.abs(z))) + Math.max(0, changed ? -z : z);
  }, prior);
}

function newtonStep(alarms: readonly JudgedAlarm[], { slope, offset }: VerdictFit): [slope: number, offset: number] {
  let [ga, gb] = [(slope - 1) / PRIOR.slope ** 2, offset / PRIOR.offset ** 2];
  let [haa, hab, hbb] = [1 / PRIOR.slope ** 2, 0, 1 / PRIOR.offset ** 2];
  for (const { confidence, changed } of alarms) {
    const z = logitOf(confidence);
    const p = sigmoid(slope * z + offset);
    const [error, weight] = [p - (changed ? 1 : 0), p * (1 - p)];
    ga += error * z;
    gb += error;
    haa += weight * z * z;
    hab += weight * z;
    hbb += weight;
  }
  const determinant = haa * hbb - hab * hab;
  return [(hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant];
}

/** The most probable offset at a slope, by bisection of the gradient, which rises with the offset. */
function bestOffset(alarms: readonly JudgedAlarm[], slope: number, deviation: number): number {
  let [low, high] = [-LARGEST_OFFSET, LARGEST_OFFSET];
  for (let step = 0; step < STEPS; step++) {
    const offset = (low + high) / 2;
    const gradient = alarms.reduce(
      (sum, { confidence, changed }) => sum + sigmoid(slope * logitOf(confidence) + offset) - (changed ? 1 : 0),
      offset / deviation ** 2,
    );
    if (gradient > 0) high = offset;
    else low = offset;
  }
  return (low + high) / 2;
}

/** New probability of a change. */
export const recalibrated = (confidence: number, { slope, offset }: VerdictFit): number =>
  sigmoid(slope * logitOf(confidence) + offset);

/** The calibration of a bundle whose probabilities are recalibrated; the operating points keep their alarms. */
export function applyFit(calibration: Calibration, fit: VerdictFit): Calibration {
  const { scale, offset } = calibration.change;
  return {
    ...calibration,
    change: { scale: rounded(fit.slope * scale), offset: rounded(fit.slope * offset + fit.offset) },
    operating_points: calibration.operating_points.map((point) => ({
      ...point,
      threshold: rounded(recalibrated(point.threshold, fit)),
    })),
  };
}

/**
 * Thresholds of cameras whose alarms are false more often than those of all cameras together. They are above the
 * threshold of the calibration, and lose at most MOST_LOST of the camera's right alarms.
 * @param calibration with `fit` applied, if there is one
 * @param alarms with recalibrated confidences
 */
export function fitCameras(alarms: readonly JudgedAlarm[], calibration: Calibration): Record<string, number> {
  const cameras = [...new Set(alarms.map(({ camera }) => camera))].filter((camera) => camera !== '').sort();
  const thresholds = cameras.flatMap((camera): [string, number][] => {
    const ofCamera = alarms.filter((alarm) => alarm.camera === camera);
    if (ofCamera.length < LEAST_OF_CAMERA) return [];
    const offset = bestOffset(ofCamera, 1, PRIOR.camera);
    if (offset > -LEAST_OFFSET) return [];
    const border = Math.min(logitOf(calibration.threshold) - offset, highestBorder(ofCamera, calibration));
    const threshold = rounded(sigmoid(border));
    return threshold > calibration.threshold ? [[camera, threshold]] : [];
  });
  return Object.fromEntries(thresholds);
}

const rounded = (value: number): number => Number(value.toFixed(6));
