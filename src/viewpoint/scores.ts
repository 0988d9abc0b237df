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

/** When a tampering is named where a backbone has looked too: both have to say so. */
export interface Joint {
  /** the evidence's score from which it is named; lower than where the evidence stands alone, for it does not */
  readonly threshold: number;
  /** agreement of both frames' features, less the least of two frames of one place, up to which it is named */
  readonly mostAgreement: number;
}

export interface Fitted {
  readonly leastInliers: number;
  readonly nuisances: Readonly<Record<NuisanceName, Logistic>>;
  readonly tampers: Readonly<Record<TamperName, Logistic>>;
  readonly joint: Readonly<Record<TamperName, Joint>>;
}

export function scoreOf({ offset, weights }: Logistic, measurements: Measurements): number {
  let logit = offset;
  for (const [name, weight] of Object.entries(weights)) logit += weight * measurements[name as Measurement];
  return 1 / (1 + Math.exp(-logit));
}

export const scoresOf = <Name extends string>(
  models: Readonly<Record<Name, Logistic>>,
  measurements: Measurements,
): Record<Name, number> =>
  Object.fromEntries(
    Object.entries<Logistic>(models).map(([name, model]) => [name, scoreOf(model, measurements)]),
  ) as Record<Name, number>;
