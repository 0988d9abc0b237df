/**
 * Schema of fitted.json. The service only uses its types: the schema library takes as long to load as several
 * comparisons, in every inference thread, and the file is part of the program. `fit:viewpoint` checks the file that it
 * writes, and a test the one that is shipped.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { MEASUREMENTS } from './measurements.js';
import { NUISANCES, TAMPERS } from './scores.js';

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
