/** Scores from measurements: one logistic regression per class, with the weights of fitted-schema.ts. */
import { logitOf, sigmoid } from '../base/logistic.js';
import type { Measurement, Measurements } from './measurements.js';

export const NUISANCES = [
  'lighting',
  'ir_switch',
  'shadow',
  'weather',
  'compression',
  'noise',
  'camera_moved',
] as const;
export type NuisanceName = (typeof NUISANCES)[number];
export const TAMPERS = ['blocked', 'defocused', 'darkened', 'turned'] as const;
export type TamperName = (typeof TAMPERS)[number];

/** One class: score = sigmoid(offset + sum of weight x measurement). */
interface Logistic {
  readonly offset: number;
  readonly weights: Readonly<Partial<Record<Measurement, number>>>;
}

function scoreOf({ offset, weights }: Logistic, measurements: Measurements): number {
  let logit = offset;
  for (const [name, weight] of Object.entries(weights)) logit += weight * measurements[name as Measurement];
  return sigmoid(logit);
}

/** Weights of the joint score; `evidence` is that of the logit of the evidence's score, `agreement` of the margin. */
interface Joint {
  readonly offset: number;
  readonly evidence: number;
  readonly agreement: number;
}

export const jointScore = (joint: Joint, score: number, margin: number): number =>
  sigmoid(joint.offset + joint.evidence * evidenceLogit(score) + joint.agreement * margin);

/** Logit of a score of the evidence, which says nothing surer than this. */
export const evidenceLogit = (score: number): number => logitOf(score, 1e-4);

export const scoresOf = <Name extends string>(
  models: Readonly<Record<Name, Logistic>>,
  measurements: Measurements,
): Record<Name, number> =>
  Object.fromEntries(
    Object.entries<Logistic>(models).map(([name, model]) => [name, scoreOf(model, measurements)]),
  ) as Record<Name, number>;
