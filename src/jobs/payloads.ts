/**
 * The contract between the API and the workers: queue names, Redis keys, job payloads. Payloads are versioned, carry
 * references and never pixels (images in job data grow fivefold and fill Redis). Nothing outside this file spells a key.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { ScenedeltaError } from '../errors.js';
import type { ChangeEventType, ChangeStatus, FoundChange } from '../schemas/change.js';

/** Live work and archive work wait in separate queues, so that a re-processed archive never delays a camera. */
export const QUEUES = { live: 'comparisons', archive: 'archive', delivery: 'deliveries' } as const;
/** Clean-up and recovery: job schedulers, so that one worker of all does it. Jobs carry nothing. */
export const MAINTENANCE_QUEUE = 'maintenance';
/** Cameras that are asked for a frame: job schedulers by the camera's id; jobs are of TurnJobSchema. */
export const SNAPSHOT_QUEUE = 'snapshots';
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
  /** of a comparison or of a change */
  deliveriesOf: (id: string) => `sd:dlvs:${id}`,
  delivery: (id: string) => `sd:dlv:${id}`,
  change: (id: string) => `sd:chg:${id}`,
  /** sorted sets, member = change id, score = confirmation in ms by the camera's clock */
  changesByTime: 'sd:chgs',
  changesByCamera: (camera: string) => `sd:chgs:camera:${camera}`,
  changesByStatus: (status: ChangeStatus) => `sd:chgs:status:${status}`,
  changesByStatusAndCamera: (status: ChangeStatus, camera: string) => `sd:chgs:both:${status}:${camera}`,
  /** sorted sets, score = our clock in ms: when a change was last written, when feedback was given */
  changesByWriting: 'sd:chgs:written',
  changesByFeedback: 'sd:chgs:feedback',
  /** list of what became known of a camera's changes and alerts since its last frame (change.ts, CameraEvent) */
  news: (camera: string) => `sd:news:${camera}`,
  alert: (id: string) => `sd:alr:${id}`,
  /** sorted set of the ids of a change's alerts, score = the camera's time in ms */
  alertsOf: (change: string) => `sd:chg:${change}:alerts`,
  /** heartbeat of each live worker process: JSON with its models; expires */
  worker: (workerId: string) => `sd:worker:${workerId}`,
  /** set of the ids of workers that were live a moment ago */
  workers: 'sd:workers',
  /** sorted set of the ids of all cameras, all with score 0: in the order of their letters */
  cameras: 'sd:cams',
  /** hash: camera (settings), state (between two frames), snapshot (how the last pull ended), framesErased (retention). A camera's id has no ':' */
  camera: (id: string) => `sd:cam:${id}`,
  /** sorted set of comparison ids that wait for the camera's turn, score = captured time in ms; equal times order by id */
  cameraFrames: (id: string) => `sd:cam:${id}:frames`,
  /** hash: how often the turn of a waiting frame has begun */
  cameraTries: (id: string) => `sd:cam:${id}:tries`,
  /** '<job id>:<token>' of the turn under way; expires */
  cameraTurn: (id: string) => `sd:cam:${id}:turn`,
  /** whose the snapshot pull under way is; expires */
  cameraPull: (id: string) => `sd:cam:${id}:pull`,
} as const;

/** Where a frame's bytes are. `stored`: in the frame store. `url`, `s3`: fetched by the worker through the guarded client. */
export const FrameRefSchema = Type.Union([
  Type.Object({
    from: Type.Literal('stored'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: Type.Integer({ minimum: 0 }),
    contentType: Type.String(),
    mask: Type.Optional(
      Type.String({ description: "id of the camera's privacy mask that is painted on these bytes" }),
    ),
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
  /** null: a camera's frame, compared with what its turn finds to be "before" */
  before: Type.Union([FrameRefSchema, Type.Null()]),
  after: FrameRefSchema,
  /** of a camera's frame: it is worked on in the camera's turn, never as a job of its own */
  turn: Type.Optional(
    Type.Object({ camera: Type.String(), capturedAt: Type.Integer({ description: 'epoch ms' }) }),
  ),
  /** null = the default bundle */
  model: Type.Union([Type.String(), Type.Null()]),
  acceptedAt: Type.Integer({ description: 'epoch ms' }),
  deadline: Type.Union([Type.Integer({ description: 'epoch ms' }), Type.Null()]),
  callbackUrl: Type.Union([Type.String(), Type.Null()]),
  /** which key's quota and secrets this belongs to */
  apiKeyId: Type.String(),
});
export type ComparisonJob = Static<typeof ComparisonJobSchema>;

/** Somebody should take the camera's turn. Carries no frame: the turn takes the earliest that waits. */
export const TurnJobSchema = Type.Object({ v: Type.Literal(1), camera: Type.String() });
export type TurnJob = Static<typeof TurnJobSchema>;
/** The name of such a job; they wait among the live comparisons. */
export const TURN_JOB = 'turn';
/**
 * Of comparisons and deliveries. How long ended jobs stay visible to operators (idempotency and results do not depend on it), and how often
 * an error that is not the input's or the receiver's is tried again; a delivery's tries are counted by its own log.
 */
const JOB_OPTIONS = {
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: { age: 3_600, count: 1_000 },
  removeOnFail: { age: 86_400 },
} as const;
export const COMPARISON_OPTIONS = { ...JOB_OPTIONS, attempts: 3 } as const;
export const DELIVERY_OPTIONS = { ...JOB_OPTIONS, attempts: 5 } as const;

/** Attempts are for a Redis that is away: a frame's own tries are counted by its turn. */
export const TURN_OPTIONS = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: true,
  removeOnFail: { age: 86_400 },
  priority: PRIORITY.live,
} as const;

export const DeliveryJobSchema = Type.Object({
  v: Type.Literal(1),
  deliveryId: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }),
  comparisonId: Type.String(),
  /** what is delivered, where it is an alert and not the comparison itself */
  alertId: Type.Optional(Type.String({ pattern: '^alr_[0-9a-z]{26}$' })),
  traceId: Type.String(),
  url: Type.String(),
  apiKeyId: Type.String(),
});
export type DeliveryJob = Static<typeof DeliveryJobSchema>;

/** @throws ScenedeltaError 'invalid-request' (permanent) naming the first field that does not fit. */
export function parseJob<
  T extends typeof ComparisonJobSchema | typeof DeliveryJobSchema | typeof TurnJobSchema,
>(schema: T, payload: unknown): Static<T> {
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
/** The same of a change. */
export interface ChangeEvent extends Pick<FoundChange, 'camera' | 'zone' | 'kind' | 'severity'> {
  readonly type: ChangeEventType;
  readonly changeId: string;
  readonly at: string;
}
export type StreamEvent = ComparisonEvent | ChangeEvent;
export const EVENTS_KEPT = 10_000;
export const isFinal = (type: StreamEvent['type']): boolean =>
  type === 'comparison.finished' || type === 'comparison.failed' || type === 'comparison.cancelled';
