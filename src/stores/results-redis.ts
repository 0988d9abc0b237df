/** Comparisons in Redis: a hash each, sorted sets as indexes. Both writes are Lua, so that a crash leaves all of one or nothing. */
import type { Redis } from 'ioredis';
import { type ComparisonEvent, EVENTS_KEPT, KEYS } from '../jobs/payloads.js';
import type { Comparison } from '../schemas/comparison.js';
import { pageOf } from './pages.js';
import { type RedisCommand, redisCall } from './redis.js';
import type { ListQuery, ResultStore, StoredComparison } from './results.js';

export interface RedisResultStore extends ResultStore {
  /**
   * Ids of comparisons that are not final and were last changed before `before` (epoch ms), oldest first: what a process that
   * died may have left behind.
   */
  unfinished(before: number, limit: number): Promise<string[]>;
  /**
   * What `update` does when a comparison ends, as commands for a step that saves more than the comparison. That step must see to it
   * that the comparison is not final yet.
   */
  endingWrites(ended: StoredComparison): RedisCommand[];
}

/** Retention erases by age; the expiry behind it is for a Redis whose workers are gone. */
const EXPIRY_SLACK_MS = 3_600_000;

const APPEND_EVENT = `redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[1])`;

/**
 * KEYS: events, comparison, open, then the indexes. ARGV: event, id, comparison, frames, job, status, callback ('' or '1'),
 * created (ms), expires (ms), cutoff of the indexes (ms).
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
 * KEYS: events, comparison, open, open deliveries, then the verdict's indexes. ARGV: event, id, comparison, frames ('' = as they
 * are), status, final ('' or '1'), now (ms), created (ms), delivery id, expires (ms), cutoff of the indexes (ms).
 * A final comparison with a callback enters the open deliveries in the same step: a crash right after cannot lose the webhook.
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

interface Scripts {
  sdCreate(keys: number, ...args: (string | number)[]): Promise<number>;
  sdUpdate(keys: number, ...args: (string | number)[]): Promise<number>;
}

/** @param retentionMs how long a comparison is kept, from its creation. */
export function createRedisResultStore(
  redis: Redis,
  options: { retentionMs: number; now?: () => number },
): RedisResultStore {
  const now = options.now ?? Date.now;
  redis.defineCommand('sdCreate', { lua: CREATE });
  redis.defineCommand('sdUpdate', { lua: UPDATE });
  const scripts = redis as unknown as Scripts;
  const expiry = (createdAt: number) => createdAt + options.retentionMs + EXPIRY_SLACK_MS;
  const cutoff = () => now() - options.retentionMs - EXPIRY_SLACK_MS;

  const read = async (ids: readonly string[]): Promise<(Comparison | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hget(KEYS.comparison(id), 'comparison');
    return repliesOf<string | null>(await pipeline.exec()).map((json) =>
      json === null ? undefined : JSON.parse(json),
    );
  };

  return {
    create: ({ comparison, frames, job }) =>
      redisCall('creating a comparison', async () => {
        const createdAt = Date.parse(comparison.created_at);
        const indexes = [
          KEYS.comparisonsByTime,
          ...(comparison.camera === null ? [] : [KEYS.comparisonsByCamera(comparison.camera)]),
        ];
        const keys = [KEYS.events, KEYS.comparison(comparison.id), KEYS.comparisonsOpen, ...indexes];
        await scripts.sdCreate(
          keys.length,
          ...keys,
          JSON.stringify(eventOf(comparison, now())),
          comparison.id,
          JSON.stringify(comparison),
          JSON.stringify(frames),
          JSON.stringify(job),
          comparison.status,
          job.callbackUrl === null ? '' : '1',
          createdAt,
          expiry(createdAt),
          cutoff(),
        );
      }),

    get: (id) =>
      redisCall('reading a comparison', async () => {
        const [comparison, frames, job] = await redis.hmget(
          KEYS.comparison(id),
          'comparison',
          'frames',
          'job',
        );
        if (comparison == null || frames == null || job == null) return undefined;
        return {
          comparison: JSON.parse(comparison),
          frames: JSON.parse(frames),
          job: JSON.parse(job),
        } satisfies StoredComparison;
      }),

    update: (id, { comparison, frames }) =>
      redisCall('saving a comparison', async () => {
        const createdAt = Date.parse(comparison.created_at);
        const indexes = verdictIndexes(comparison);
        const keys = [
          KEYS.events,
          KEYS.comparison(id),
          KEYS.comparisonsOpen,
          KEYS.deliveriesOpen,
          ...indexes,
        ];
        const replaced = await scripts.sdUpdate(
          keys.length,
          ...keys,
          JSON.stringify(eventOf(comparison, now())),
          id,
          JSON.stringify(comparison),
          frames === undefined ? '' : JSON.stringify(frames),
          comparison.status,
          comparison.status === 'queued' || comparison.status === 'running' ? '' : '1',
          now(),
          createdAt,
          deliveryIdOf(id),
          expiry(createdAt),
          cutoff(),
        );
        return replaced === 1;
      }),

    endingWrites: ({ comparison, frames, job }) => {
      const { id } = comparison;
      const at = now();
      const createdAt = Date.parse(comparison.created_at);
      const event = JSON.stringify(eventOf(comparison, at));
      return [
        ['XADD', KEYS.events, 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event],
        ['HSET', KEYS.comparison(id), 'comparison', JSON.stringify(comparison), 'status', comparison.status],
        ['HSET', KEYS.comparison(id), 'frames', JSON.stringify(frames)],
        ['ZREM', KEYS.comparisonsOpen, id],
        ...(job.callbackUrl === null ? [] : [['ZADD', KEYS.deliveriesOpen, at, deliveryIdOf(id)] as const]),
        ...verdictIndexes(comparison).flatMap((index): RedisCommand[] => [
          ['ZREMRANGEBYSCORE', index, '-inf', cutoff()],
          ['ZADD', index, createdAt, id],
          ['PEXPIREAT', index, expiry(createdAt)],
        ]),
      ];
    },

    list: (query) => redisCall('listing comparisons', () => pageOf(redis, indexOf(query), query, read)),

    erase: (id) =>
      redisCall('erasing a comparison', async () => {
        const json = await redis.hget(KEYS.comparison(id), 'comparison');
        const { camera, verdict }: Partial<Comparison> = json === null ? {} : JSON.parse(json);
        const erasing = redis
          .multi()
          .del(KEYS.comparison(id))
          .zrem(KEYS.comparisonsOpen, id)
          .zrem(KEYS.comparisonsByTime, id);
        if (camera != null) erasing.zrem(KEYS.comparisonsByCamera(camera), id);
        if (verdict !== undefined) erasing.zrem(KEYS.comparisonsByVerdict(verdict), id);
        if (camera != null && verdict !== undefined) {
          erasing.zrem(KEYS.comparisonsByVerdictAndCamera(verdict, camera), id);
        }
        const [existed] = repliesOf<number>(await erasing.exec());
        return existed === 1;
      }),

    olderThan: (before, limit) =>
      redisCall('listing old comparisons', () =>
        redis.zrangebyscore(KEYS.comparisonsByTime, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
    unfinished: (before, limit) =>
      redisCall('listing unfinished comparisons', () =>
        redis.zrangebyscore(KEYS.comparisonsOpen, '-inf', `(${before}`, 'LIMIT', 0, limit),
      ),
  };
}

const verdictIndexes = ({ camera, verdict }: Comparison): string[] =>
  verdict === undefined
    ? []
    : [
        KEYS.comparisonsByVerdict(verdict),
        ...(camera === null ? [] : [KEYS.comparisonsByVerdictAndCamera(verdict, camera)]),
      ];

/** One delivery a comparison: its id follows from the comparison's, so that a job that ran twice cannot make a second one. */
export const deliveryIdOf = (comparisonId: string): string => comparisonId.replace(/^cmp_/, 'dlv_');
export const comparisonIdOf = (deliveryId: string): string => deliveryId.replace(/^dlv_/, 'cmp_');

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

/** @throws the first error among the replies of a pipeline or transaction. */
function repliesOf<T>(results: [error: Error | null, reply: unknown][] | null): T[] {
  return (results ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply as T;
  });
}
