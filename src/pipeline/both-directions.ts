/**
 * The caption graph on a pair and on the same pair with its frames exchanged. Alone, the two runs differ in one answer
 * of ten: a thing that "has moved" in one has "left" in the other, where another one has "appeared". The mean of both
 * directions is antisymmetric in time by construction (ADR 15).
 */
import { softmax } from '../base/logistic.js';
import type { CaptionOutput } from '../model/graph-io.js';
import { reversedKind } from '../schemas/comparison.js';

/** Output of the caption graph for some crops. */
export interface CaptionRun extends CaptionOutput {
  /** for the same crops with the frames exchanged; absent: it was not run. Then `kindLogits` are of one direction */
  readonly reversed?: CaptionOutput;
}

/** Least probability of a kind, so that its logarithm is finite. */
const LEAST = 1e-9;

/**
 * @param forward of the pair. @param reversed of the exchanged pair
 * @param kinds of the manifest
 * @returns `forward` with the logarithms of the mean probabilities of the kinds
 */
export function inBothDirections(
  forward: CaptionOutput,
  reversed: CaptionOutput,
  kinds: readonly string[],
): CaptionRun {
  if (forward.kindLogits === null || reversed.kindLogits === null) return { ...forward, reversed };
  const [ahead, back] = [softmax(forward.kindLogits), softmax(reversed.kindLogits)];
  const kindLogits = Float32Array.from(kinds, (kind, i) =>
    Math.log(Math.max(LEAST, ((ahead[i] as number) + (back[kinds.indexOf(reversedKind(kind))] as number)) / 2)),
  );
  return { ...forward, kindLogits, reversed };
}
