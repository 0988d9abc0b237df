/** How a worker runs the jobs of one queue: refused ones, delayed ones, and the guard around all (job-guard.ts). */
import { DelayedError, type Job, type Processor, UnrecoverableError, Worker, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../base/errors.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { redisCall } from '../stores/redis/redis.js';
import type { JobGuard } from './job-guard.js';
import { QUEUE_PREFIX } from './queues.js';

export interface QueueWorkers {
  /** Takes no more jobs and waits for the running ones. */
  close(): Promise<void>;
}
export interface Common {
  /** a consumer's connection; shared, the caller closes it */
  readonly redis: Redis;
  readonly config: Pick<Config, 'jobLockMs'>;
  readonly logger: Logger;
  readonly guard: JobGuard;
}

/** A lost lock is no failure of a job: the guard counts the workers that die over it. */
const MAX_STALLED = Number.MAX_SAFE_INTEGER;
/** A job that has failed for good, with everything saved: BullMQ does not try it again. */
export class JobFailed extends UnrecoverableError {}

/**
 * Runs a job. A permanent error, such as a payload of an unknown version, is logged and not tried again.
 * @param onRefused called before the job is failed
 */
export async function runJob<T>(
  logger: Logger,
  job: Job,
  run: () => Promise<T>,
  onRefused?: (error: ScenedeltaError) => Promise<void>,
): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError && thrown.permanent)) throw thrown;
    logger.error({ job_id: job.id, queue: job.queueName, reason: thrown.message }, 'job refused');
    await onRefused?.(thrown);
    throw new JobFailed(thrown.message);
  }
}

/** Whether an error ends the job. */
export const isLast = (job: Job): boolean => job.attemptsMade + 1 >= (job.opts.attempts ?? 1);

/** Ends this run of a job, to run it again at `at` (epoch ms). */
export async function delay(job: Job, at: number, token: string | undefined): Promise<never> {
  await redisCall('delaying a job', () => job.moveToDelayed(at, token));
  throw new DelayedError();
}

/** Counts the workers that die over a job, see JobGuard.counted. */
export type Counted = (job: Job, work: () => Promise<unknown>) => Promise<unknown>;

/** @param counted absent: jobs that another one replaces, or that count by themselves */
export function startWorker(
  name: string,
  process: Processor,
  common: Common,
  concurrency: number,
  counted: Counted = (_job, work) => work(),
): Worker {
  const { redis, config, logger, guard } = common;
  const run: Processor = (job, token, signal) => guard.patiently(() => counted(job, () => process(job, token, signal)));
  const options: WorkerOptions = {
    connection: redis,
    prefix: QUEUE_PREFIX,
    concurrency,
    lockDuration: config.jobLockMs,
    stalledInterval: config.jobLockMs / 2,
    maxStalledCount: MAX_STALLED,
  };
  const worker = new Worker(name, run, options);
  guard.watch(worker);
  // The connection logs its errors; without any listener here an error would end the process.
  worker.on('error', (err) => logger.debug({ err, queue: name }, 'queue worker error'));
  worker.on('stalled', (job_id) => logger.warn({ job_id, queue: name }, 'job lost its lock, trying again'));
  return worker;
}
