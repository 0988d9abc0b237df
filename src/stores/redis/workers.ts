/**
 * The registry of live workers and their models: written by each worker's heartbeat, read by the API, which never loads
 * a model.
 */
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import { type Static, Type } from 'typebox';
import { clockOffsetMs, systemTime } from '../../base/clock.js';
import { newId } from '../../base/ids.js';
import type { Logger } from '../../process/logger.js';
import { type ModelDescription, ModelDescriptionSchema } from '../../schemas/model-description.js';
import { KEYS } from './keys.js';
import { redisCall } from './redis.js';

const WorkerDescriptionSchema = Type.Object(
  {
    id: Type.String(),
    host: Type.String(),
    pid: Type.Integer(),
    started_at: Type.String({ format: 'date-time' }),
    /** empty while the worker loads its models */
    models: Type.Array(ModelDescriptionSchema),
    /** the store of frames takes no writes, so the worker has paused its queues */
    paused: Type.Optional(Type.Boolean()),
    /** how far the clock of its host is ahead of that of Redis */
    clock_offset_s: Type.Optional(Type.Number()),
  },
  { $id: 'WorkerDescription' },
);
export type WorkerDescription = Static<typeof WorkerDescriptionSchema>;
export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>;

export const HEARTBEAT_MS = 5_000;
/** A worker that missed this many heartbeats counts as dead. */
const MISSED_BEATS = 3;

/** Entries expire by the clock of Redis, so that workers on hosts with different clocks are judged alike. */
export function createWorkerRegistry(redis: Redis) {
  return {
    /** Marks the worker as live; to be repeated every HEARTBEAT_MS. */
    beat: (worker: WorkerDescription): Promise<void> =>
      redisCall('heartbeat', async () => {
        await redis
          .multi()
          .set(KEYS.worker(worker.id), JSON.stringify(worker), 'PX', HEARTBEAT_MS * MISSED_BEATS)
          .sadd(KEYS.workers, worker.id)
          .exec();
      }),
    /** Removes a worker that ends, before its entry expires. */
    leave: (id: string): Promise<void> =>
      redisCall('leaving', async () => {
        await redis.multi().del(KEYS.worker(id)).srem(KEYS.workers, id).exec();
      }),
    /** @returns the live workers, oldest first. @throws ScenedeltaError 'queue-unavailable' */
    list: (): Promise<WorkerDescription[]> =>
      redisCall('listing workers', async () => {
        const ids = await redis.smembers(KEYS.workers);
        if (ids.length === 0) return [];
        const found = await redis.mget(ids.map(KEYS.worker));
        const gone = ids.filter((_, i) => found[i] === null);
        if (gone.length > 0) await redis.srem(KEYS.workers, gone);
        return found
          .filter((json) => json != null)
          .map((json) => JSON.parse(json) as WorkerDescription)
          .sort((a, b) => a.started_at.localeCompare(b.started_at));
      }),
  };
}

/** The heartbeat of this process: visible from now on, ready once it has models. */
export function startHeartbeat({ workers, logger }: { workers: WorkerRegistry; logger: Logger }) {
  const self = { id: newId('wrk'), host: hostname(), pid: process.pid, started_at: systemTime() };
  let models: ModelDescription[] = [];
  let isPaused = () => false;
  let beating: Promise<void> | undefined;
  const beat = (): Promise<void> => {
    // While Redis is away a beat waits for it; one waiting beat is enough.
    beating ??= workers
      .beat({
        ...self,
        models,
        clock_offset_s: Math.round(clockOffsetMs() / 1000),
        ...(isPaused() ? { paused: true } : {}),
      })
      .catch((err) => logger.warn({ err }, 'heartbeat failed'))
      .finally(() => {
        beating = undefined;
      });
    return beating;
  };
  const timer = setInterval(beat, HEARTBEAT_MS).unref();
  void beat();
  return {
    id: self.id,
    /** Publishes the models at once. @param paused read at each beat */
    async ready(loaded: readonly ModelDescription[], paused: () => boolean = isPaused): Promise<void> {
      isPaused = paused;
      models = [...loaded];
      await beating;
      await beat();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await beating;
      await workers.leave(self.id);
    },
  };
}
