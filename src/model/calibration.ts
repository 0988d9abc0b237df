/** Calibration: logits to probabilities. Its constants travel in the bundle; README.md states how they are fitted. */
import { sigmoid, softmax } from '../base/logistic.js';
import type { Difference } from './graph-io.js';
import type { BundleManifest } from './manifest.js';

/** The calibrated prediction for one pair of frames. */
export interface Prediction {
  /** calibrated probability that the scene changed, 0..1 */
  readonly change: number;
  /** `change` reaches the threshold */
  readonly changed: boolean;
  /**
   * nuisances whose probability reaches their threshold, the most probable first; fusion puts the measured ones in
   * front
   */
  readonly nuisances: readonly { readonly name: string; readonly score: number }[];
  /** most probable kind of change (never 'none'), and its share among the kinds of change */
  readonly kind: { readonly name: string; readonly score: number };
}

/**
 * @param logits of difference.onnx for one pair, in the order of the manifest's `kinds` and `nuisances`
 * @param threshold of the probability of a change, 0..1
 */
export function predictionOf(
  logits: Pick<Difference, 'changeLogit' | 'kindLogits' | 'nuisanceLogits'>,
  { calibration, kinds, nuisances }: BundleManifest,
  threshold: number = calibration.threshold,
): Prediction {
  const change = sigmoid(calibration.change.scale * logits.changeLogit + calibration.change.offset);
  const scored = nuisances.map((name, i) => ({ name, score: sigmoid(logits.nuisanceLogits[i] as number) }));
  return {
    change,
    changed: change >= threshold,
    nuisances: scored
      .filter(({ name, score }) => score >= (calibration.nuisances[name] as number))
      .sort((a, b) => b.score - a.score),
    kind: mostProbableKind(logits.kindLogits, kinds),
  };
}

/** @param logits [K], in the order of `kinds`, whose first entry is 'none' and takes no part */
export function mostProbableKind(logits: Float32Array, kinds: readonly string[]): Prediction['kind'] {
  const shares = softmax(logits.subarray(1));
  const best = shares.indexOf(Math.max(...shares));
  return { name: kinds[best + 1] as string, score: shares[best] as number };
}
