/**
 * The contract between the API and the workers: queue names, Redis keys, job payloads. Payloads are versioned, carry
 * references and never pixels (images in job data grow fivefold and fill Redis). Nothing outside this file spells a key.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { ScenedeltaError } from './errors.js';

/** Live work and archive work wait in separate queues, so that a re-processed archive never delays a camera. */
export const QUEUES = { live: 'comparisons', archive: 'archive', delivery: 'deliveries' } as const;
/** Clean-up and recovery: job schedulers, so that one worker of all does it. Jobs carry nothing. */
export const MAINTENANCE_QUEUE = 'maintenance';
/** BullMQ's own key prefix. */
export const QUEUE_PREFIX = 'sd:q';
/** Lower runs first. */
export const PRIORITY = { live: 1, callback: 5, archive: 100 } as const;

export const KEYS = {
  comparison: (id: string) => `sd:cmp:${id}`,
  /** sorted sets, member = comparison id, score = creation time in ms */
  comparisonsByTime: 'sd:cmps',
  comparisonsByCamera: (camera: string) => `sd:cmps:camera:${camera}`,
  comparisonsByVerdict: (verdict: string) => `sd:cmps:verdict:${verdict}`,
  /** the verdict comes first: it has no ':', a camera's name may have one */
  comparisonsByVerdictAndCamera: (verdict: string, camera: string) => `sd:cmps:both:${verdict}:${camera}`,
  /** sorted sets of what is not final yet, score = time of the last change in ms: what a crash left behind is found here */
  comparisonsOpen: 'sd:cmps:open',
  deliveriesOpen: 'sd:dlvs:open',
  /** one stream of everything that happens to comparisons; SSE and waiting requests read it */
  events: 'sd:events',
  /** pub/sub channel on which cancelled comparison ids are broadcast, because only the worker that owns a job can stop it */
  cancellations: 'sd:cancel',
  idempotency: (apiKeyId: string, key: string) => `sd:idem:${apiKeyId}:${key}`,
  rate: (apiKeyId: string, window: number) => `sd:rate:${apiKeyId}:${window}`,
  apiKeys: 'sd:keys',
  deliveriesOf: (comparisonId: string) => `sd:dlvs:${comparisonId}`,
  delivery: (id: string) => `sd:dlv:${id}`,
  /** heartbeat of each live worker process: JSON with its models; expires */
  worker: (workerId: string) => `sd:worker:${workerId}`,
  /** set of the ids of workers that were live a moment ago */
  workers: 'sd:workers',
} as const;

/** Where a frame's bytes are. `stored`: in the frame store. `url`, `s3`: fetched by the worker through the guarded client. */
export const FrameRefSchema = Type.Union([
  Type.Object({
    from: Type.Literal('stored'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: Type.Integer({ minimum: 0 }),
    contentType: Type.String(),
  }),
  Type.Object({ from: Type.Literal('url'), url: Type.String() }),
  Type.Object({ from: Type.Literal('s3'), bucket: Type.String(), key: Type.String() }),
]);
export type FrameRef = Static<typeof FrameRefSchema>;
export type StoredFrameRef = Extract<FrameRef, { from: 'stored' }>;

export const ComparisonJobSchema = Type.Object({
  v: Type.Literal(1),
  comparisonId: Type.String({ pattern: '^cmp_[0-9a-z]{26}$' }),
  traceId: Type.String(),
  before: FrameRefSchema,
  after: FrameRefSchema,
  /** null = the default bundle */
  model: Type.Union([Type.String(), Type.Null()]),
  acceptedAt: Type.Integer({ description: 'epoch ms' }),
  deadline: Type.Union([Type.Integer({ description: 'epoch ms' }), Type.Null()]),
  callbackUrl: Type.Union([Type.String(), Type.Null()]),
  /** which key's quota and secrets this belongs to */
  apiKeyId: Type.String(),
});
export type ComparisonJob = Static<typeof ComparisonJobSchema>;

export const DeliveryJobSchema = Type.Object({
  v: Type.Literal(1),
  deliveryId: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }),
  comparisonId: Type.String(),
  traceId: Type.String(),
  url: Type.String(),
  apiKeyId: Type.String(),
});
export type DeliveryJob = Static<typeof DeliveryJobSchema>;

/** @throws ScenedeltaError 'invalid-request' (permanent) naming the first field that does not fit. */
export function parseJob<T extends typeof ComparisonJobSchema | typeof DeliveryJobSchema>(
  schema: T,
  payload: unknown,
): Static<T> {
  if (Value.Check(schema, payload)) return payload as Static<T>;
  const [first] = Value.Errors(schema, payload);
  const where = first?.instancePath || '(the whole payload)';
  throw new ScenedeltaError(
    'invalid-request',
    `Job payload does not fit its schema at ${where}: ${first?.message ?? 'unknown'}`,
    {
      field: where,
    },
  );
}

/** What is appended to the stream KEYS.events, field `event`, as JSON. */
export interface ComparisonEvent {
  readonly type:
    | 'comparison.queued'
    | 'comparison.running'
    | 'comparison.finished'
    | 'comparison.failed'
    | 'comparison.cancelled';
  readonly comparisonId: string;
  readonly camera: string | null;
  readonly verdict: string | null;
  readonly at: string;
}
export const EVENTS_KEPT = 10_000;
export const isFinal = (type: ComparisonEvent['type']): boolean =>
  type === 'comparison.finished' || type === 'comparison.failed' || type === 'comparison.cancelled';
