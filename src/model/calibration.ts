/** From logits to probabilities that mean what they say. The constants come with the bundle (README.md says how they are chosen). */
import type { Difference } from './captioner.js';
import type { Manifest } from './manifest.js';

export interface Belief {
  /** calibrated probability that the scene changed */
  readonly change: number;
  /** `change` reaches the threshold */
  readonly changed: boolean;
  /** nuisances whose probability reaches their threshold, the surest first; in the service those that were measured come before the others */
  readonly nuisances: readonly { readonly name: string; readonly score: number }[];
  /** the most probable kind of change, of those that are one (never 'none'), and its share among them */
  readonly kind: { readonly name: string; readonly score: number };
}

/** @param logits as difference.onnx gives them for one pair, in the order of the manifest's `kinds` and `nuisances`; @param threshold of the probability of a change */
export function judge(
  logits: Pick<Difference, 'changeLogit' | 'kindLogits' | 'nuisanceLogits'>,
  { calibration, kinds, nuisances }: Manifest,
  threshold: number = calibration.threshold,
): Belief {
  const change = sigmoid(calibration.change.scale * logits.changeLogit + calibration.change.offset);
  const scored = nuisances.map((name, i) => ({ name, score: sigmoid(logits.nuisanceLogits[i] as number) }));
  return {
    change,
    changed: change >= threshold,
    nuisances: scored
      .filter(({ name, score }) => score >= (calibration.nuisances[name] as number))
      .sort((a, b) => b.score - a.score),
    kind: kindOf(logits.kindLogits, kinds),
  };
}

/**
 * The most probable kind of those that are one.
 * @param logits [K], in the order of `kinds`, whose first is 'none'
 */
export function kindOf(logits: Float32Array, kinds: readonly string[]): Belief['kind'] {
  const shares = softmax(logits.subarray(1));
  const best = shares.indexOf(Math.max(...shares));
  return { name: kinds[best + 1] as string, score: shares[best] as number };
}

export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

function softmax(logits: Float32Array): number[] {
  const highest = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
