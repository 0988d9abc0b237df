/**
 * Job payloads: ids and a version, nothing else; those of questions are in questions.ts. The stored records hold the
 * rest, once: callback and frame URLs may contain credentials.
 */
import { type Static, type TObject, Type } from 'typebox';
import { Value } from 'typebox/value';
import { invalidRequest } from '../base/errors.js';

const JOB_VERSION = 2;
/** The version in every payload. */
export const version = Type.Literal(JOB_VERSION);

export const ComparisonJobSchema = Type.Object({
  v: version,
  comparisonId: Type.String({ pattern: '^cmp_[0-9a-z]{26}$' }),
  traceId: Type.String(),
});

/** A camera's turn. It names no frame: the turn takes the earliest that waits. */
export const TurnJobSchema = Type.Object({ v: version, camera: Type.String() });

export const DeliveryJobSchema = Type.Object({
  v: version,
  deliveryId: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }),
  traceId: Type.String(),
  /** of the comparison whose callback it is; absent: of an endpoint, or not known */
  owner: Type.Optional(Type.String()),
});

/** One step of a batch. `camera` is the index in the plan, `run` the number of the round of jobs; absent: 0. */
export const BatchJobSchema = Type.Object({
  v: version,
  batchId: Type.String({ pattern: '^bat_[0-9a-z]{26}$' }),
  step: Type.Union([Type.Literal('plan'), Type.Literal('camera'), Type.Literal('finish')]),
  camera: Type.Optional(Type.Integer({ minimum: 0 })),
  run: Type.Optional(Type.Integer({ minimum: 0 })),
});

export type ComparisonJob = Static<typeof ComparisonJobSchema>;
export type BatchJob = Static<typeof BatchJobSchema>;
export type DeliveryJob = Static<typeof DeliveryJobSchema>;

/** @returns the payload of a new job with these ids. */
export const jobPayload = <T extends object>(ids: T) => ({ v: JOB_VERSION, ...ids }) as const;

/** @throws ScenedeltaError 'invalid-request' (permanent), naming the version or the first field that does not fit. */
export function parseJob<T extends TObject>(schema: T, payload: unknown): Static<T> {
  if (Value.Check(schema, payload)) return payload as Static<T>;
  const given = (payload as { v?: unknown } | null)?.v;
  if (given !== undefined && given !== JOB_VERSION) {
    throw invalidRequest(`Job payload has version ${JSON.stringify(given)}, expected ${JOB_VERSION}`, '/v');
  }
  const [first] = Value.Errors(schema, payload);
  const field = first?.instancePath || '(the whole payload)';
  throw invalidRequest(`Job payload does not fit its schema at ${field}: ${first?.message ?? 'unknown'}`, field);
}
