/** From measurements to scores: one logistic regression a class, whose numbers a command fitted (fitted.ts). */
import type { Measurement, Measurements } from './measure.js';

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

/** score = 1 / (1 + exp(-(offset + sum of weight * measurement))) */
export interface Logistic {
  readonly offset: number;
  readonly weights: Readonly<Partial<Record<Measurement, number>>>;
  /** the score from which it is named */
  readonly threshold: number;
}

/** A bare place shows less to be sure of: the score from which tampering with a camera that looks at one is named. */
export interface Bounds {
  readonly threshold: number;
  readonly bareThreshold: number;
}

/**
 * The same where a backbone has looked too: score = sigmoid(offset + evidence * logit of the evidence's score + agreement * margin),
 * margin = agreement of both frames' features less the least of two frames of one place
 */
export interface Joint extends Bounds {
  readonly offset: number;
  readonly evidence: number;
  readonly agreement: number;
  /** the margin up to which it is named: where features agree more, the place is the same one whatever the evidence says */
  readonly mostAgreement: number;
}

export interface Fitted {
  readonly leastInliers: number;
  readonly nuisances: Readonly<Record<NuisanceName, Logistic>>;
  readonly tampers: Readonly<Record<TamperName, Logistic & Bounds>>;
  readonly joint: Readonly<Record<TamperName, Joint>>;
}

export function scoreOf({ offset, weights }: Logistic, measurements: Measurements): number {
  let logit = offset;
  for (const [name, weight] of Object.entries(weights)) logit += weight * measurements[name as Measurement];
  return sigmoid(logit);
}

export const jointScore = (joint: Joint, score: number, margin: number): number =>
  sigmoid(joint.offset + joint.evidence * logitOf(score) + joint.agreement * margin);

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
/** A score nearer to 0 or 1 than this says no more. */
const SURE = 1e-4;
export const logitOf = (score: number): number => {
  const p = Math.min(1 - SURE, Math.max(SURE, score));
  return Math.log(p / (1 - p));
};

export const scoresOf = <Name extends string>(
  models: Readonly<Record<Name, Logistic>>,
  measurements: Measurements,
): Record<Name, number> =>
  Object.fromEntries(
    Object.entries<Logistic>(models).map(([name, model]) => [name, scoreOf(model, measurements)]),
  ) as Record<Name, number>;
