/**
 * Probability that a location changed as its clause states: a logistic regression of the outputs of the graphs. The
 * weights travel in the bundle (`calibration.facts`); `training.fits.facts` fits them on held-out pairs.
 */
import { logitOf, sigmoid, softmax } from '../base/logistic.js';
import { shareOf } from '../model/calibration.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { PairNames } from '../model/graph-io.js';
import { SIDES_OF_KIND } from '../schemas/comparison.js';
import type { EndsOfMove, LocationStatement } from './location-statement.js';

export type ClauseWeights = FactCalibration['clause'];

/** Evidence of one location; all but `area` are log-odds. */
export interface ClauseEvidence {
  /** of the kind that the clause states, among the kinds of change, by the run on this location alone */
  readonly kind: number;
  /** of a move by the same run, if the clause states another kind */
  readonly move: number;
  /** that the clause is about one end of a move: the likeness of the most alike thing of the other frame */
  readonly twin: number;
  /** that the crop of a frame that should show the thing shows none */
  readonly nothing: number;
  /** of the weakest region */
  readonly score: number;
  /** natural logarithm of the largest region's share of the frame */
  readonly area: number;
}

/** Bounds of a probability before it becomes log-odds, so that one certain output does not decide alone. */
const LEAST_PROBABILITY = 1e-4;
/** Likeness of a thing that could be no end of a move: the other frame shows no thing elsewhere. */
const NO_TWIN = 0.01;

/**
 * @param shown names of all crops, in their order
 * @param ends of the same description
 * @param kinds of the manifest, whose first entry is 'none'
 * @returns undefined if the caption graph judges no kind
 */
export function evidenceOf(
  {
    at,
    statement: { kind },
    kindLogits,
    regions,
  }: Pick<LocationStatement, 'at' | 'statement' | 'kindLogits' | 'regions'>,
  shown: readonly PairNames[],
  ends: readonly EndsOfMove[],
  kinds: readonly string[],
): ClauseEvidence | undefined {
  if (kindLogits === null || regions.length === 0) return undefined;
  const sides = SIDES_OF_KIND[kind];
  const nothing = sides.map((side) => {
    const names = shown[(side === 'before' ? at[0] : at.at(-1)) ?? 0];
    return names === undefined ? 0 : (softmax(names[side].nouns)[0] as number);
  });
  return {
    kind: logOdds(shareOf(kind, kindLogits, kinds)),
    move: kind === 'move' ? 0 : logOdds(shareOf('move', kindLogits, kinds)),
    twin: logOdds(kind === 'appear' || kind === 'disappear' ? twinOf(at[0] as number, shown, ends, kinds) : NO_TWIN),
    nothing: logOdds(nothing.reduce((sum, one) => sum + one, 0) / nothing.length),
    score: logOdds(Math.min(...regions.map(({ score }) => score))),
    area: Math.log(Math.max(...regions.map(({ area }) => area))),
  };
}

export const clauseProbability = (evidence: ClauseEvidence, weights: ClauseWeights): number =>
  sigmoid(
    weights.offset +
      Object.entries(evidence).reduce((sum, [name, value]) => sum + weights[name as keyof ClauseEvidence] * value, 0),
  );

/** The greatest share of a move times the likeness of the names at both ends, over the ends that a crop may be. */
function twinOf(
  crop: number,
  shown: readonly PairNames[],
  ends: readonly EndsOfMove[],
  kinds: readonly string[],
): number {
  const involved = ends.filter(({ before, after }) => before === crop || after === crop);
  if (involved.length === 0) return NO_TWIN;
  return involved.reduce((most, { before, after, kindLogits }) => {
    const [from, to] = [shown[before]?.before, shown[after]?.after];
    if (from === undefined || to === undefined || kindLogits === null) return most;
    const likeness =
      cosine(softmax(from.nouns), softmax(to.nouns)) * cosine(softmax(from.colours), softmax(to.colours));
    return Math.max(most, shareOf('move', kindLogits, kinds) * likeness);
  }, 0);
}

/** Cosine of two vectors of one length. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (p: readonly number[], q: readonly number[]) => p.reduce((sum, x, i) => sum + x * (q[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const logOdds = (probability: number): number => logitOf(probability, LEAST_PROBABILITY);
