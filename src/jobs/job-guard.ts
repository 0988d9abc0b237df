/**
 * The guard around every job of a worker. A store that refuses is no failure of a job: the queues are paused, and the
 * job runs again when the store takes writes. A job over which workers die runs beside no other one of its kind, and is
 * put into quarantine before it takes a third worker with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from 'async-mutex';
import type { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../base/blobs.js';
import { isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import type { Logger } from '../process/logger.js';
import { KEYS } from '../stores/redis/keys.js';
import { redisCall } from '../stores/redis/redis.js';
import type { RunStore } from '../stores/redis/runs.js';

/** Workers that may die over a job. */
const MOST_DEATHS = 2;
const PROBE_MS = 500;
/** Runs of a job that says that a store refuses, while the store takes writes. */
const MOST_REPEATS = 3;
/** Time in which an answer of Redis says what is so now. */
const PROMPT_MS = 1_000;
const PROBE_BLOB = 'probes/writable';

export type JobGuard = ReturnType<typeof createJobGuard>;

export function createJobGuard(deps: {
  redis: Redis;
  blobs: Pick<BlobStore, 'put' | 'delete'>;
  runs: Pick<RunStore, 'begin' | 'end' | 'holds'>;
  logger: Logger;
}) {
  const { redis, blobs, runs, logger } = deps;
  const workers = new Set<Worker>();
  const suspects = new Mutex();
  const longSuspects = new Mutex();
  /** items of this process */
  const running = new Set<string>();
  const closing = new AbortController();
  let waiting: Promise<boolean> | undefined;

  const takesWrites = async (): Promise<boolean> => {
    try {
      await redisCall('probing', () => redis.set(KEYS.probe, '1', 'PX', 60_000));
      await blobs.delete(PROBE_BLOB);
      await blobs.put(PROBE_BLOB, Buffer.from('1'));
      return true;
    } catch (thrown) {
      if (isStoreRefusal(thrown)) return false;
      throw thrown;
    }
  };

  const wait = async (reason: string): Promise<boolean> => {
    if (await takesWrites()) return false;
    logger.warn({ reason }, 'a store refuses writes: the queues are paused');
    for (const worker of workers) void worker.pause(true);
    do await sleep(PROBE_MS, undefined, { signal: closing.signal });
    while (!(await takesWrites()));
    for (const worker of workers) void worker.resume();
    logger.info('the stores take writes again');
    return true;
  };

  /** @returns whether the store did refuse writes; false at once if it takes them */
  const writable = (reason: string): Promise<boolean> => {
    waiting ??= wait(reason).finally(() => {
      waiting = undefined;
    });
    return waiting;
  };

  const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let repeats = 0; ; ) {
      try {
        await waiting;
        return await work();
      } catch (thrown) {
        if (!isStoreRefusal(thrown)) throw thrown;
        const refused = await writable(String(thrown)).catch(() => {
          throw thrown;
        });
        if (!refused && ++repeats === MOST_REPEATS) throw thrown;
      }
    }
  };

  return {
    /** Runs `work`, again if a store refused, until the store takes writes. */
    patiently,
    /** Runs `work` beside no other work over which a worker has died. */
    alone: <T>(work: () => Promise<T>): Promise<T> => suspects.runExclusive(work),
    /**
     * Counts the workers that die over an item.
     * @param options.progress changes whenever the item has gone on
     * @param options.long the item runs for hours, so that only others of its kind wait for it
     * @param options.exclusive the item must not run twice at a time, e.g. after its lock was lost
     * @returns 'busy' if it runs elsewhere
     * @throws ScenedeltaError 'quarantined' in place of a run that might take a third worker
     */
    async counted<T>(
      item: string,
      work: () => Promise<T>,
      { progress, long = false, exclusive = false }: { progress?: string; long?: boolean; exclusive?: boolean } = {},
    ): Promise<T | 'busy'> {
      if (exclusive && running.has(item)) return 'busy';
      const begin = () => runs.begin(item, { progress, exclusive });
      const deaths = await begin();
      if (deaths === undefined) return 'busy';
      running.add(item);
      try {
        assertNotQuarantined(deaths);
        if (deaths === 0) return await work();
        // A suspect that waits does not run: the death of the worker under another one must not count for it.
        await runs.end(item);
        return await (long ? longSuspects : suspects).runExclusive(async () =>
          (await begin()) === undefined ? 'busy' : work(),
        );
      } finally {
        // No job waits for it. Without it, a later death of this worker would count for the job. Until it is noted, the
        // item does not run here again: a late end would end that run.
        patiently(() => runs.end(item))
          .catch((err) => logger.debug({ err, item }, 'end of a job not noted'))
          .finally(() => running.delete(item));
      }
    },
    /**
     * Whether this worker still runs an exclusive item. One that was frozen, or away from Redis, may have lost it to
     * another worker: a step that must not be made twice asks at once before it.
     */
    async holds(item: string): Promise<boolean> {
      for (;;) {
        const asked = performance.now();
        const held = await runs.holds(item);
        // A later answer may be old: the process may have been frozen since Redis gave it.
        if (performance.now() - asked < PROMPT_MS) return held;
      }
    },
    /** The queue of this worker is paused while a store refuses. */
    watch: (worker: Worker): void => void workers.add(worker),
    isRefused: (): boolean => waiting !== undefined,
    close: (): void => closing.abort(),
  };
}

/** @throws ScenedeltaError 'quarantined' */
export function assertNotQuarantined(deaths: number): void {
  if (deaths < MOST_DEATHS) return;
  const reason = `${deaths} workers died while they worked on it, so it is not tried again`;
  throw new ScenedeltaError('quarantined', reason);
}
