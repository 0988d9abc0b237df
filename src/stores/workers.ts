/** Which workers live, and with which models: written by each worker's heartbeat, read by the API, which never loads a model. */
import type { Redis } from 'ioredis';
import { type Static, Type } from 'typebox';
import { ModelDescriptionSchema } from '../schemas/model-description.js';
import { KEYS } from './keys.js';
import { redisCall } from './redis.js';

export const WorkerDescriptionSchema = Type.Object(
  {
    id: Type.String(),
    host: Type.String(),
    pid: Type.Integer(),
    started_at: Type.String({ format: 'date-time' }),
    /** empty where the worker still warms up */
    models: Type.Array(ModelDescriptionSchema),
  },
  { $id: 'WorkerDescription' },
);
export type WorkerDescription = Static<typeof WorkerDescriptionSchema>;

/** What the API sees of the workers. */
export interface WorkerDirectory {
  /** The workers that live, oldest first. @throws ScenedeltaError 'queue-unavailable' */
  list(): Promise<WorkerDescription[]>;
}
export interface WorkerRegistry extends WorkerDirectory {
  /** Says that this worker lives; to be repeated every HEARTBEAT_MS. */
  beat(worker: WorkerDescription): Promise<void>;
  /** A worker that ends says so, rather than being missed later. */
  leave(id: string): Promise<void>;
}

export const HEARTBEAT_MS = 5_000;
/** A worker that missed this many beats counts as gone. */
const MISSED_BEATS = 3;

/** Expiry is Redis's own clock, so that workers on hosts with other clocks are judged alike. */
export function createWorkerRegistry(redis: Redis): WorkerRegistry {
  return {
    beat: (worker) =>
      redisCall('heartbeat', async () => {
        await redis
          .multi()
          .set(KEYS.worker(worker.id), JSON.stringify(worker), 'PX', HEARTBEAT_MS * MISSED_BEATS)
          .sadd(KEYS.workers, worker.id)
          .exec();
      }),
    leave: (id) =>
      redisCall('leaving', async () => {
        await redis.multi().del(KEYS.worker(id)).srem(KEYS.workers, id).exec();
      }),
    list: () =>
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
