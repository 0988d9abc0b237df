/** How a worker serves its queues: refused, delayed and cancelled jobs, and the guard around all (job-guard.ts). */
import { DelayedError, type Job, type Processor, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../base/errors.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { KEYS } from '../stores/redis/keys.js';
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

/** A queue that a worker serves. */
export interface QueueRow {
  readonly run: Processor;
  /** jobs held at a time */
  readonly concurrency: number;
  /** absent: jobs that another one replaces, or that count by themselves */
  readonly counted?: Counted;
  /** after a run of a job that failed */
  readonly onFailed?: (job: Job | undefined, error: Error) => void;
  /** for the id of each comparison and batch that is cancelled */
  readonly onCancelled?: (id: string, worker: Worker) => void;
  /** before the worker waits for the running jobs */
  readonly onClose?: () => void;
}
/** Rows by the name of their queue. */
export type QueueTable = Readonly<Record<string, QueueRow>>;

/** Serves the queues of a table. */
export function serveTable(table: QueueTable, common: Common): QueueWorkers {
  const served = Object.entries(table).map(([name, row]) => ({ row, worker: startWorker(name, row, common) }));
  const cancellable = served.filter(({ row }) => row.onCancelled !== undefined);
  const cancellations =
    cancellable.length === 0
      ? undefined
      : onCancellation(common, (id) => {
          for (const { row, worker } of cancellable) row.onCancelled?.(id, worker);
        });
  return {
    async close() {
      for (const { row } of served) row.onClose?.();
      await Promise.all(served.map(({ worker }) => worker.close()));
      cancellations?.disconnect();
    },
  };
}

function startWorker(name: string, row: QueueRow, { redis, config, logger, guard }: Common): Worker {
  const { counted = (_job, work) => work() } = row;
  const run: Processor = (job, token, signal) => guard.patiently(() => counted(job, () => row.run(job, token, signal)));
  const worker = new Worker(name, run, {
    connection: redis,
    prefix: QUEUE_PREFIX,
    concurrency: row.concurrency,
    lockDuration: config.jobLockMs,
    stalledInterval: config.jobLockMs / 2,
    maxStalledCount: MAX_STALLED,
  });
  guard.watch(worker);
  // The connection logs its errors; without any listener here an error would end the process.
  worker.on('error', (err) => logger.debug({ err, queue: name }, 'queue worker error'));
  worker.on('stalled', (job_id) => logger.warn({ job_id, queue: name }, 'job lost its lock, trying again'));
  if (row.onFailed !== undefined) worker.on('failed', row.onFailed);
  return worker;
}

/** Only the worker that runs a job can stop it, so every worker receives every cancellation. */
function onCancellation({ redis, logger }: Common, cancel: (id: string) => void): Redis {
  const cancellations = redis.duplicate();
  cancellations.on('error', (err) => logger.debug({ reason: err.message }, 'cancellations unreachable'));
  cancellations.on('message', (_channel, id: string) => cancel(id));
  cancellations.subscribe(KEYS.cancellations).catch((err) => logger.error({ err }, 'not subscribed to cancellations'));
  return cancellations;
}
