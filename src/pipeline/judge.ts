/**
 * The judge: the fitted models of a bundle over rows of evidence. A new insight about sentences is a further column
 * of a row, never a level in the code.
 */
import { sigmoid } from '../base/logistic.js';
import type { JudgeManifest } from '../model/judge-schema.js';

/** Bound of probabilities before they become log-odds in a row, so that one certain output does not decide alone. */
export const LEAST_PROBABILITY = 1e-3;

/** @returns probability, 0..1 */
export const judged = <C extends string>(
  { weights, offset }: { readonly weights: Readonly<Record<C, number>>; readonly offset: number },
  row: NoInfer<Readonly<Record<C, number>>>,
): number =>
  sigmoid(Object.entries<number>(weights).reduce((sum, [name, weight]) => sum + weight * row[name as C], offset));

export type Judge = JudgeManifest;
