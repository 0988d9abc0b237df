/**
 * Comparisons with their frames and requests: one Redis hash per comparison, sorted sets as indexes.
 * The API writes a comparison at acceptance, workers afterwards. Both writes are Lua scripts, so that a crash leaves
 * all or nothing.
 */
import type { Redis } from 'ioredis';
import { deliveryIdOf } from '../ids.js';
import type { Comparison } from '../schemas/comparison.js';
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import type { ComparisonEvent } from '../schemas/stream-event.js';
import { EVENTS_KEPT, KEYS } from './keys.js';
import { type PageQuery, pageOf } from './pages.js';
import { defineScript, type RedisCommand, redisCall, repliesOf } from './redis.js';

/** A comparison with what is kept beside the public resource. */
export interface StoredComparison {
  readonly comparison: Comparison;
  /** set as soon as the frames' bytes are in the blob store */
  readonly frames: { readonly before: StoredFrameRef | null; readonly after: StoredFrameRef | null };
  readonly request: ComparisonRequest;
}

/** The request for a comparison. It is written once, at acceptance, in the hash field `job`. */
export interface ComparisonRequest {
  readonly traceId: string;
  /** null: a camera's frame, which is compared with what its turn chooses as "before" */
  readonly before: FrameRef | null;
  readonly after: FrameRef;
  /**
   * only of a camera's frame, which is processed in the camera's turn and has no job of its own; capturedAt in epoch ms
   */
  readonly turn?: { readonly camera: string; readonly capturedAt: number };
  /** null: the default bundle */
  readonly model: string | null;
  /** epoch ms */
  readonly acceptedAt: number;
  /** epoch ms; null: none */
  readonly deadline: number | null;
  readonly callbackUrl: string | null;
  /** the key that this counts against */
  readonly apiKeyId: string;
}

export interface ListQuery extends PageQuery {
  readonly camera?: string;
  readonly verdict?: string;
}

export type ResultStore = ReturnType<typeof createResultStore>;

/** Retention erases by age; keys expire this much later, in case no worker runs. */
const EXPIRY_SLACK_MS = 3_600_000;

const APPEND_EVENT = `redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[1])`;

/**
 * KEYS: events, comparison, open, then the indexes. ARGV: event, id, comparison, frames, request (field 'job'), status,
 * callback ('' or '1'), created (ms), expires (ms), cutoff of the indexes (ms).
 */
const CREATE = `
${APPEND_EVENT}
redis.call('HSET', KEYS[2], 'comparison', ARGV[3], 'frames', ARGV[4], 'job', ARGV[5], 'status', ARGV[6], 'callback', ARGV[7])
redis.call('PEXPIREAT', KEYS[2], ARGV[9])
redis.call('ZADD', KEYS[3], ARGV[8], ARGV[2])
for i = 4, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[10])
  redis.call('ZADD', KEYS[i], ARGV[8], ARGV[2])
  redis.call('PEXPIREAT', KEYS[i], ARGV[9])
end
return 1`;

/**
 * KEYS: events, comparison, open, open deliveries, then the verdict's indexes. ARGV: event, id, comparison, frames (''
 * = unchanged), status, final ('' or '1'), now (ms), created (ms), delivery id, expires (ms), cutoff of the indexes
 * (ms). A final comparison with a callback enters the open deliveries in the same step: a crash right after cannot lose
 * the webhook.
 */
const UPDATE = `
local status = redis.call('HGET', KEYS[2], 'status')
if not status or status == 'finished' or status == 'failed' or status == 'cancelled' then return 0 end
redis.call('HSET', KEYS[2], 'comparison', ARGV[3], 'status', ARGV[5])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'frames', ARGV[4]) end
if status ~= ARGV[5] then ${APPEND_EVENT} end
if ARGV[6] == '' then
  redis.call('ZADD', KEYS[3], ARGV[7], ARGV[2])
else
  redis.call('ZREM', KEYS[3], ARGV[2])
  if ARGV[5] ~= 'cancelled' and redis.call('HGET', KEYS[2], 'callback') == '1' then
    redis.call('ZADD', KEYS[4], ARGV[7], ARGV[9])
  end
  for i = 5, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[11])
    redis.call('ZADD', KEYS[i], ARGV[8], ARGV[2])
    redis.call('PEXPIREAT', KEYS[i], ARGV[10])
  end
end
return 1`;

/**
 * All methods throw ScenedeltaError 'queue-unavailable' if Redis is away.
 * @param options.retentionMs how long a comparison is kept, from its creation.
 */
export function createResultStore(redis: Redis, options: { retentionMs: number; now?: () => number }) {
  const { retentionMs, now = Date.now } = options;
  const runCreate = defineScript(redis, 'sdCreate', CREATE);
  const runUpdate = defineScript<number>(redis, 'sdUpdate', UPDATE);

  const read = async (ids: readonly string[]): Promise<(Comparison | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hget(KEYS.comparison(id), 'comparison');
    return repliesOf<string | null>(await pipeline.exec()).map((json) =>
      json === null ? undefined : JSON.parse(json),
    );
  };

  return {
    create: ({ comparison, frames, request }: StoredComparison): Promise<void> =>
      redisCall('creating a comparison', async () => {
        const times = indexTimes(comparison, now(), retentionMs);
        const keys = [
          KEYS.events,
          KEYS.comparison(comparison.id),
          KEYS.comparisonsOpen,
          KEYS.comparisonsByTime,
          ...(comparison.camera === null ? [] : [KEYS.comparisonsByCamera(comparison.camera)]),
        ];
        await runCreate(
          keys,
          JSON.stringify(eventOf(comparison, now())),
          comparison.id,
          JSON.stringify(comparison),
          JSON.stringify(frames),
          JSON.stringify(request),
          comparison.status,
          request.callbackUrl === null ? '' : '1',
          times.created,
          times.expires,
          times.cutoff,
        );
      }),

    get: (id: string): Promise<StoredComparison | undefined> =>
      redisCall('reading a comparison', async () => {
        const fields = await redis.hmget(KEYS.comparison(id), 'comparison', 'frames', 'job');
        const [comparison, frames, request] = fields;
        if (comparison == null || frames == null || request == null) return undefined;
        return {
          comparison: JSON.parse(comparison),
          frames: JSON.parse(frames),
          request: JSON.parse(request),
        };
      }),

    /**
     * Replaces the comparison unless it is final (finished, failed, cancelled), and appends the matching event, in one
     * step.
     * @returns false if it was final or erased. The caller's result is dropped then: a stalled job ran twice, or a
     *   cancel came first.
     */
    update: (
      id: string,
      { comparison, frames }: { comparison: Comparison; frames?: StoredComparison['frames'] },
    ): Promise<boolean> =>
      redisCall('saving a comparison', async () => {
        const times = indexTimes(comparison, now(), retentionMs);
        const keys = [
          KEYS.events,
          KEYS.comparison(id),
          KEYS.comparisonsOpen,
          KEYS.deliveriesOpen,
          ...verdictIndexes(comparison.camera, comparison.verdict),
        ];
        const replaced = await runUpdate(
          keys,
          JSON.stringify(eventOf(comparison, now())),
          id,
          JSON.stringify(comparison),
          frames === undefined ? '' : JSON.stringify(frames),
          comparison.status,
          comparison.status === 'queued' || comparison.status === 'running' ? '' : '1',
          now(),
          times.created,
          deliveryIdOf(id),
          times.expires,
          times.cutoff,
        );
        return replaced === 1;
      }),

    /** Newest first. */
    list: (query: ListQuery) =>
      redisCall('listing comparisons', () => pageOf(redis, indexOf(query), query, read)),

    /** Erases the comparison and its index entries. @returns whether it existed. */
    erase: (id: string): Promise<boolean> =>
      redisCall('erasing a comparison', async () => {
        const json = await redis.hget(KEYS.comparison(id), 'comparison');
        const { camera, verdict }: Partial<Comparison> = json === null ? {} : JSON.parse(json);
        const erasing = redis
          .multi()
          .del(KEYS.comparison(id))
          .zrem(KEYS.comparisonsOpen, id)
          .zrem(KEYS.comparisonsByTime, id);
        if (camera != null) erasing.zrem(KEYS.comparisonsByCamera(camera), id);
        for (const index of verdictIndexes(camera ?? null, verdict)) erasing.zrem(index, id);
        const [existed] = repliesOf<number>(await erasing.exec());
        return existed === 1;
      }),

    /** @returns ids of comparisons created before `before` (epoch ms), at most `limit`, oldest first. */
    olderThan: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing old comparisons', () =>
        redis.zrangebyscore(KEYS.comparisonsByTime, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    /**
     * @returns ids of comparisons that are not final and were last written before `before` (epoch ms), oldest first.
     */
    unfinished: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing unfinished comparisons', () =>
        redis.zrangebyscore(KEYS.comparisonsOpen, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
  };
}

/**
 * The writes of `update` for a comparison that ends, as commands of a larger atomic step (stores/turns.ts).
 * That step must check that the comparison is not final yet.
 */
export function endingWrites(
  { comparison, frames, request }: StoredComparison,
  now: number,
  retentionMs: number,
): RedisCommand[] {
  const { id, status } = comparison;
  const times = indexTimes(comparison, now, retentionMs);
  const event = JSON.stringify(eventOf(comparison, now));
  return [
    ['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event],
    ['HSET', KEYS.comparison(id), 'comparison', JSON.stringify(comparison), 'status', status],
    ['HSET', KEYS.comparison(id), 'frames', JSON.stringify(frames)],
    ['ZREM', KEYS.comparisonsOpen, id],
    ...(request.callbackUrl === null ? [] : [['ZADD', KEYS.deliveriesOpen, now, deliveryIdOf(id)] as const]),
    ...verdictIndexes(comparison.camera, comparison.verdict).flatMap((index): RedisCommand[] => [
      ['ZREMRANGEBYSCORE', index, '-inf', times.cutoff],
      ['ZADD', index, times.created, id],
      ['PEXPIREAT', index, times.expires],
    ]),
  ];
}

/** Score and expiry of a comparison's index entries, and the age below which entries are stale; all in epoch ms. */
function indexTimes({ created_at }: Comparison, now: number, retentionMs: number) {
  const created = Date.parse(created_at);
  const kept = retentionMs + EXPIRY_SLACK_MS;
  return { created, expires: created + kept, cutoff: now - kept };
}

const verdictIndexes = (camera: string | null, verdict: string | undefined): string[] =>
  verdict === undefined
    ? []
    : [
        KEYS.comparisonsByVerdict(verdict),
        ...(camera === null ? [] : [KEYS.comparisonsByVerdictAndCamera(verdict, camera)]),
      ];

const eventOf = (comparison: Comparison, now: number): ComparisonEvent => ({
  type: `comparison.${comparison.status}`,
  comparisonId: comparison.id,
  camera: comparison.camera,
  verdict: comparison.verdict ?? null,
  at: new Date(now).toISOString(),
});

function indexOf({ camera, verdict }: ListQuery): string {
  if (verdict === undefined) {
    return camera === undefined ? KEYS.comparisonsByTime : KEYS.comparisonsByCamera(camera);
  }
  return camera === undefined
    ? KEYS.comparisonsByVerdict(verdict)
    : KEYS.comparisonsByVerdictAndCamera(verdict, camera);
}
