/**
 * Batches: one Redis hash per batch, and one for the checkpoints of its cameras. A chunk of frames is committed in one
 * step, and only if it follows the last one, so that two workers that hold the same camera cannot mix their work.
 */
import type { Redis } from 'ioredis';
import type { Problem } from '../../base/errors.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type BatchStatus, isBatchFinal } from '../../schemas/batch.js';
import { EVENTS_KEPT, KEYS } from '../redis/keys.js';
import { earlierThan, type PageQuery, pageOf } from '../redis/pages.js';
import { defineScript, redisCall, repliesOf } from '../redis/redis.js';
import type { Visibility } from '../redis/visibility.js';
import type { BatchRequest } from './batch-request.js';
import { type BatchPlan, type BatchProgress, batchEvent } from './progress.js';

export interface AcceptedBatch {
  readonly id: string;
  readonly owner: string;
  /** epoch ms */
  readonly createdAt: number;
  readonly request: BatchRequest;
}

export interface BatchRecord extends AcceptedBatch {
  readonly status: BatchStatus;
  /** epoch ms; null until it has ended */
  readonly finishedAt: number | null;
  readonly error: Problem | null;
  readonly plan: BatchPlan | null;
  /** in the order of the plan's cameras; undefined before the first chunk */
  readonly progress: readonly (BatchProgress | undefined)[];
  /** finished chunks, in the order of the plan's cameras */
  readonly chunks: readonly number[];
  readonly run: BatchRun;
}

/** A round of jobs over the cameras that are not done. Another follows if workers died over one that went on. */
export interface BatchRun {
  /** 0 is the first */
  readonly number: number;
  /** finished chunks at its beginning, in the order of the plan's cameras */
  readonly since: readonly number[];
}

export interface StoredCheckpoint {
  /** plain JSON of src/footage */
  readonly checkpoint: string;
  /** names of the blobs of all finished chunks */
  readonly chunks: readonly string[];
}

export const batchPrefix = (batch: string): string => `batches/${batch}`;
/** @param name of an output, of [a-z0-9./-] */
export const batchResultKey = (batch: string, name: string): string => `${batchPrefix(batch)}/results/${name}`;

/** @param name of a picture in the folder of pictures */
export const batchPictureKey = (batch: string, name: string): string => `${batchPrefix(batch)}/pictures/${name}`;

export type BatchStore = ReturnType<typeof createBatchStore>;

/**
 * KEYS: batch, the camera's list of chunks, checkpoints.
 * ARGV: index of the camera, number of the chunk, blob, checkpoint, progress.
 */
const COMMIT = `
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'running' then return 0 end
if (tonumber(redis.call('HGET', KEYS[1], 'chunk:' .. ARGV[1]) or '0') + 1) ~= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'chunk:' .. ARGV[1], ARGV[2], 'progress:' .. ARGV[1], ARGV[5])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])
redis.call('RPUSH', KEYS[2], ARGV[3])
return 1`;

/**
 * KEYS: batch, event stream. ARGV: allowed status, another one or '', new status, event or '', owner, field and value
 * pairs.
 */
const MOVE = `
local status = redis.call('HGET', KEYS[1], 'status')
if not status or (status ~= ARGV[1] and status ~= ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[3])
for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if ARGV[4] ~= '' then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[4], 'owner', ARGV[5])
end
return 1`;

/** KEYS: batch. A plan with cameras stays, because checkpoints refer to it. */
const RETRY = `
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'failed' and status ~= 'cancelled' then return 0 end
local plan = redis.call('HGET', KEYS[1], 'plan')
local planned = plan and #cjson.decode(plan).cameras > 0
redis.call('HSET', KEYS[1], 'status', planned and 'running' or 'queued')
redis.call('HDEL', KEYS[1], 'finished', 'error')
return 1`;

export function createBatchStore(redis: Redis) {
  const runCommit = defineScript<number>(redis, 'sdBatchChunk', COMMIT);
  const runMove = defineScript<number>(redis, 'sdBatchMove', MOVE);
  const runRetry = defineScript<number>(redis, 'sdBatchRetry', RETRY);

  const get = async (id: string): Promise<BatchRecord | undefined> => recordOf(await redis.hgetall(KEYS.batch(id)));
  /**
   * @param eventAt time of an event about it, epoch ms; absent: it causes none
   * @returns whether the batch was in one of the statuses `from`
   */
  const move = (
    id: string,
    from: readonly BatchStatus[],
    to: BatchStatus,
    fields: Record<string, string> = {},
    eventAt?: number,
  ) =>
    redisCall('updating a batch', async () => {
      const batch = eventAt === undefined ? undefined : await get(id);
      const event = batch === undefined ? '' : JSON.stringify(batchEvent({ ...batch, status: to }, eventAt ?? 0));
      const flat = Object.entries(fields).flat();
      const [first = '', second = ''] = from;
      const keys = [KEYS.batch(id), KEYS.events];
      return (await runMove(keys, first, second, to, event, batch?.owner ?? '', ...flat)) === 1;
    });

  return {
    create: (batch: AcceptedBatch): Promise<void> =>
      redisCall('creating a batch', async () => {
        await redis
          .multi()
          .hset(KEYS.batch(batch.id), 'batch', JSON.stringify(batch), 'status', 'queued')
          .zadd(KEYS.batchesByTime, batch.createdAt, batch.id)
          .exec();
      }),
    get: (id: string) => redisCall('reading a batch', () => get(id)),
    /** Newest first. Keys without the scope admin see the batches of their owner. */
    list: (query: PageQuery & { visibility: Visibility }) =>
      redisCall('listing batches', () =>
        pageOf(redis, KEYS.batchesByTime, query, (ids) =>
          Promise.all(
            ids.map(async (id) => {
              const batch = await get(id);
              return batch !== undefined && seesBatch(query.visibility, batch) ? batch : undefined;
            }),
          ),
        ),
      ),
    /** Takes the plan over and begins. @returns false if the batch was cancelled, or has been planned already */
    begin: (id: string, plan: BatchPlan) => move(id, ['queued'], 'running', { plan: JSON.stringify(plan) }),
    /** @returns false if the batch does not run any more */
    beginRun: (id: string, run: BatchRun) => move(id, ['running'], 'running', { run: JSON.stringify(run) }),
    /**
     * Progress between two chunks. It never replaces that of a chunk, which a worker that was frozen meanwhile may not
     * know. @returns false if the batch does not run any more
     */
    report: (id: string, index: number, progress: BatchProgress) =>
      move(id, ['running'], 'running', { [`ahead:${index}`]: JSON.stringify(progress) }),
    /** Writes an event about the progress. @param at epoch ms. @returns false if the batch does not run any more */
    announce: (id: string, at: number) => move(id, ['running'], 'running', {}, at),
    complete: (id: string, at: number) => move(id, ['running'], 'completed', { finished: String(at) }, at),
    /** @param plan takes the place of the plan; absent: it stays */
    fail: (id: string, error: Problem, at: number, plan?: BatchPlan) => {
      const fields = {
        finished: String(at),
        error: JSON.stringify(error),
        ...(plan === undefined ? {} : { plan: JSON.stringify(plan) }),
      };
      return move(id, ['queued', 'running'], 'failed', fields, at);
    },
    cancel: (id: string, at: number) => move(id, ['queued', 'running'], 'cancelled', { finished: String(at) }, at),
    /** Lets a failed or cancelled batch go on from its checkpoints. @returns false if it is neither */
    retry: (id: string): Promise<boolean> =>
      redisCall('retrying a batch', async () => (await runRetry([KEYS.batch(id)])) === 1),
    /** @returns undefined before the first chunk of the camera */
    checkpoint: (id: string, index: number): Promise<StoredCheckpoint | undefined> =>
      redisCall('reading a checkpoint', async () => {
        const [checkpoint, chunks] = await Promise.all([
          redis.hget(KEYS.batchCheckpoints(id), String(index)),
          redis.lrange(KEYS.batchChunks(id, index), '0', '-1'),
        ]);
        return checkpoint === null ? undefined : { checkpoint, chunks };
      }),
    /**
     * @param chunk number of the chunk, from 1
     * @returns false if the batch does not run any more, or another worker has committed this chunk
     */
    commit: (
      id: string,
      index: number,
      {
        chunk,
        blob,
        checkpoint,
        progress,
      }: { chunk: number; blob: string; checkpoint: string; progress: BatchProgress },
    ): Promise<boolean> =>
      redisCall('saving a chunk', async () => {
        const keys = [KEYS.batch(id), KEYS.batchChunks(id, index), KEYS.batchCheckpoints(id)];
        return (await runCommit(keys, index, chunk, blob, checkpoint, JSON.stringify(progress))) === 1;
      }),
    /** @returns ids of batches that were created before `before` (epoch ms), oldest first */
    olderThan: earlierThan(redis, 'listing old batches', KEYS.batchesByTime),
    /** @returns ids of batches that have not ended and were created before `before` (epoch ms), newest first */
    unfinished: (before: number, limit: number): Promise<string[]> =>
      redisCall('listing unfinished batches', async () => {
        const ids = await redis.zrevrangebyscore(KEYS.batchesByTime, `(${before}`, '-inf', 'LIMIT', 0, limit);
        const pipeline = redis.pipeline();
        for (const id of ids) pipeline.hget(KEYS.batch(id), 'status');
        const statuses = repliesOf(await pipeline.exec());
        return ids.filter((_id, i) => statuses[i] !== null && !isBatchFinal(statuses[i] as BatchStatus));
      }),
    erase: (id: string): Promise<void> =>
      redisCall('erasing a batch', async () => {
        const plan = (await get(id))?.plan;
        const chunks = (plan?.cameras ?? []).map((_camera, i) => KEYS.batchChunks(id, i));
        await redis
          .multi()
          .del(KEYS.batch(id), KEYS.batchCheckpoints(id), ...chunks)
          .zrem(KEYS.batchesByTime, id)
          .exec();
      }),
  };
}

/** @returns the settings for one camera of a batch: those of the request, with the privacy zones of the plan */
export function plannedSettings({ request: { settings }, plan }: BatchRecord, index: number): CameraSettings {
  const privacy = plan?.cameras[index]?.privacy ?? [];
  return privacy.length === 0 ? settings : { ...settings, zones: [...settings.zones, ...privacy] };
}

export const seesBatch = (visibility: Visibility, { owner }: Pick<AcceptedBatch, 'owner'>): boolean =>
  visibility === 'everything' || visibility.owner === owner;

const parsedProgress = (json: string | undefined): BatchProgress | undefined =>
  json === undefined ? undefined : JSON.parse(json);

function recordOf(hash: Readonly<Record<string, string>>): BatchRecord | undefined {
  if (hash.batch === undefined) return undefined;
  const plan: BatchPlan | null = hash.plan === undefined ? null : JSON.parse(hash.plan);
  const chunks = (plan?.cameras ?? []).map((_camera, i) => Number(hash[`chunk:${i}`] ?? 0));
  return {
    ...(JSON.parse(hash.batch) as AcceptedBatch),
    status: hash.status as BatchStatus,
    finishedAt: hash.finished === undefined ? null : Number(hash.finished),
    error: hash.error === undefined ? null : JSON.parse(hash.error),
    plan,
    progress: (plan?.cameras ?? []).map((_camera, i) => {
      const [committed, ahead] = [`progress:${i}`, `ahead:${i}`].map((field) => parsedProgress(hash[field]));
      const isAhead = ahead !== undefined && committed?.done !== true && ahead.frames > (committed?.frames ?? 0);
      return isAhead ? ahead : committed;
    }),
    chunks,
    run: hash.run === undefined ? { number: 0, since: chunks.map(() => 0) } : JSON.parse(hash.run),
  };
}
