/** Scores from measurements: one logistic regression per class, with the weights of fitted.json. */
import { type Static, type TSchema, Type } from 'typebox';
import { MEASUREMENTS, type Measurement, type Measurements } from './measurements.js';

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

/** An object with exactly these keys, all of one schema. */
const objectOf = <Name extends string, Value extends TSchema>(names: readonly Name[], value: Value) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>, {
    additionalProperties: false,
  });

const Score = Type.Number({ minimum: 0, maximum: 1 });

/** One class: score = sigmoid(offset + sum of weight x measurement). A class is named from `threshold` on. */
const LogisticSchema = Type.Object({
  offset: Type.Number(),
  weights: Type.Partial(objectOf(MEASUREMENTS, Type.Number()), { additionalProperties: false }),
  threshold: Score,
});
type Logistic = Static<typeof LogisticSchema>;

/** Scores from which a kind of tampering is named; `bareThreshold` is that of places with little detail (`isBare`). */
const BoundsSchema = Type.Object({ threshold: Score, bareThreshold: Score });
export type Bounds = Static<typeof BoundsSchema>;

/**
 * Evidence fused with a backbone: score = sigmoid(offset + evidence x logit(score of the evidence) + agreement x
 * margin). The margin is the agreement of both frames' features minus the bundle's `least_agreement`. Above
 * `mostAgreement` both frames show the same place, and the kind is not named.
 */
const JointSchema = Type.Object({
  ...BoundsSchema.properties,
  offset: Type.Number(),
  evidence: Type.Number(),
  agreement: Type.Number(),
  mostAgreement: Type.Number(),
});
type Joint = Static<typeof JointSchema>;

/** fitted.json: every weight and threshold of this folder that a command fitted, with the figures it reached. */
export const FittedSchema = Type.Object({
  /** the command that wrote the file */
  command: Type.String(),
  /** lines of text; the pairs measured are of places that chose neither weights nor thresholds */
  figures: objectOf(['nuisances', 'tampers', 'joint'], Type.Array(Type.String())),
  /** plates and sprites by licence */
  fittedOn: Type.Array(Type.String()),
  /** fewest corners that must agree on a motion */
  leastInliers: Type.Integer({ minimum: 3 }),
  nuisances: objectOf(NUISANCES, LogisticSchema),
  tampers: objectOf(TAMPERS, Type.Object({ ...LogisticSchema.properties, ...BoundsSchema.properties })),
  joint: objectOf(TAMPERS, JointSchema),
});
export type Fitted = Readonly<Pick<Static<typeof FittedSchema>, 'leastInliers' | 'nuisances' | 'tampers' | 'joint'>>;

export function scoreOf({ offset, weights }: Logistic, measurements: Measurements): number {
  let logit = offset;
  for (const [name, weight] of Object.entries(weights)) logit += weight * measurements[name as Measurement];
  return sigmoid(logit);
}

export const jointScore = (joint: Joint, score: number, margin: number): number =>
  sigmoid(joint.offset + joint.evidence * logitOf(score) + joint.agreement * margin);

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
/** Scores closer to 0 or 1 than this are limited to it. */
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
