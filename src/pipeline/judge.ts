/**
 * The judge: the fitted models of a bundle over rows of evidence. A new insight about sentences is a further column
 * of a row, never a level in the code.
 */
import { logitOf, sigmoid } from '../base/logistic.js';
import type { JudgeManifest } from '../model/judge-schema.js';

/** Bound of probabilities before they become log-odds in a row, so that one certain output does not decide alone. */
const LEAST_PROBABILITY = 1e-3;

/** Log-odds as a column has them. */
export const oddsOf = (probability: number): number => logitOf(probability, LEAST_PROBABILITY);

/** @returns probability, 0..1 */
export const judged = <C extends string>(
  { weights, offset }: { readonly weights: Readonly<Record<C, number>>; readonly offset: number },
  row: NoInfer<Readonly<Record<C, number>>>,
): number =>
  sigmoid(Object.entries<number>(weights).reduce((sum, [name, weight]) => sum + weight * row[name as C], offset));

type Node<C> = number | readonly [column: C, level: number, upTo: number, above: number];

/** @returns probability, 0..1. @throws RangeError if a tree names a node that it lacks */
export const judgedByTrees = <C extends string>(
  { trees, offset }: { readonly trees: readonly (readonly Node<C>[])[]; readonly offset: number },
  row: NoInfer<Readonly<Record<C, number>>>,
): number => sigmoid(trees.reduce((sum, tree) => sum + leafOf(tree, row), offset));

function leafOf<C extends string>(tree: readonly Node<C>[], row: Readonly<Record<C, number>>): number {
  let node = tree[0];
  while (typeof node === 'object') {
    const [column, level, upTo, above] = node;
    node = tree[row[column] <= level ? upTo : above];
  }
  if (node === undefined) throw new RangeError('a tree names a node that it lacks');
  return node;
}

export type Judge = JudgeManifest;
