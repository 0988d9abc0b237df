/**
 * The guard around every job of a worker. A store that refuses is no failure of a job: the queues are paused, and the
 * job runs again when the store takes writes. When a worker dies, each of its jobs is a suspect. A suspect runs alone
 * in its worker, so that it is put into quarantine only for deaths that no other job can have caused.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Semaphore } from 'async-mutex';
import type { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../base/blobs.js';
import { isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import type { Logger } from '../process/logger.js';
import { KEYS } from '../stores/redis/keys.js';
import { redisCall } from '../stores/redis/redis.js';
import type { Deaths, RunStore } from '../stores/redis/runs.js';

/** Workers that may die while they run a job alone. */
const MOST_DEATHS_ALONE = 2;
/**
 * More jobs than a worker holds: a job that takes the whole room is alone. Each release counts the free room down, so a
 * room of a million costs milliseconds per job.
 */
const ROOM = 1_000;
/** Deaths from which a job that runs for hours is a suspect: others would have to wait for its next progress. */
const LONG_SUSPECT_DEATHS = 2;
const PROGRESS_CHECK_MS = 1_000;
/** A long job that runs alone may wait for live jobs, which wait for its end. */
const LONGEST_ALONE_MS = 10_000;
const PROBE_MS = 500;
/** Runs of a job that says that a store refuses, while the store takes writes. */
const MOST_REPEATS = 3;
/** Time in which an answer of Redis says what is so now. */
const PROMPT_MS = 1_000;
const PROBE_BLOB = 'probes/writable';

/** A job that runs for hours. */
export interface LongJob {
  /** Asks it to end at its next progress and to queue itself again, because a suspect has to run alone. */
  readonly giveWay: () => void;
  readonly hasProgressed: () => Promise<boolean>;
}

export type JobGuard = ReturnType<typeof createJobGuard>;

export function createJobGuard(deps: {
  redis: Redis;
  blobs: Pick<BlobStore, 'put' | 'delete'>;
  runs: Pick<RunStore, 'begin' | 'end' | 'holds'>;
  logger: Logger;
}) {
  const { redis, blobs, runs, logger } = deps;
  const workers = new Set<Worker>();
  const room = new Semaphore(ROOM);
  const longJobs = new Set<LongJob>();
  let suspects = 0;
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

  const beside = <T>(work: () => Promise<T>): Promise<T> => room.runExclusive(work);
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    suspects += 1;
    for (const { giveWay } of longJobs) giveWay();
    try {
      return await room.runExclusive(work, ROOM);
    } finally {
      suspects -= 1;
    }
  };

  const runLong = async <T>(work: () => Promise<T>, job: LongJob, isAlone: boolean): Promise<T> => {
    if (!isAlone) longJobs.add(job);
    if (!isAlone && suspects > 0) job.giveWay();
    const begunAt = performance.now();
    const check = async () => {
      if (performance.now() - begunAt > LONGEST_ALONE_MS || (await job.hasProgressed())) job.giveWay();
    };
    const timer = isAlone ? setInterval(() => void check().catch(() => {}), PROGRESS_CHECK_MS) : undefined;
    try {
      return await work();
    } finally {
      clearInterval(timer);
      longJobs.delete(job);
    }
  };

  return {
    /** Runs `work`, again if a store refused, until the store takes writes. */
    patiently,
    /** Whether a suspect runs, or waits for the end of everything else. */
    hasSuspects: (): boolean => suspects > 0,
    /** Runs `work` while no suspect runs. */
    beside,
    /** Runs `work`, of a suspect, while nothing else of this worker runs. */
    alone,
    /**
     * Counts the workers that die over an item.
     * @param options.progress changes whenever the item has gone on
     * @param options.long of an item that runs for hours
     * @param options.exclusive the item must not run twice at a time, e.g. after its lock was lost
     * @returns 'busy' if it runs elsewhere
     * @throws ScenedeltaError 'quarantined' instead of a run that might take a further worker
     */
    async counted<T>(
      item: string,
      work: () => Promise<T>,
      { progress, long, exclusive = false }: { progress?: string; long?: LongJob; exclusive?: boolean } = {},
    ): Promise<T | 'busy'> {
      if (exclusive && running.has(item)) return 'busy';
      const attempt = async (isAlone: boolean): Promise<T | 'busy' | 'suspect'> => {
        const begun = await runs.begin(item, { progress, exclusive, alone: isAlone });
        if (begun === undefined) return 'busy';
        running.add(item);
        let suspect = false;
        try {
          assertNotQuarantined(begun);
          suspect = !isAlone && begun.deaths >= (long === undefined ? 1 : LONG_SUSPECT_DEATHS);
          if (suspect) return 'suspect';
          return await (long === undefined ? work() : runLong(work, long, isAlone));
        } finally {
          // No job waits for it. Without it, a later death of this worker would count for the job. Until it is noted,
          // the item does not run here again: a late end would end that run.
          const end = patiently(() => runs.end(item))
            .catch((err) => logger.debug({ err, item }, 'end of a job not noted'))
            .finally(() => running.delete(item));
          if (suspect) await end;
        }
      };
      const ended = await beside(() => attempt(false));
      return ended === 'suspect' ? ((await alone(() => attempt(true))) as T | 'busy') : ended;
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
export function assertNotQuarantined({ deathsAlone }: Deaths): void {
  if (deathsAlone < MOST_DEATHS_ALONE) return;
  const reason = `It ran alone ${deathsAlone} times and the worker died each time, so it is not tried again`;
  throw new ScenedeltaError('quarantined', reason);
}
