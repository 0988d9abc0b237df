/** BullMQ's side of the workers: which queues are served, how often a job is tried, how a cancel reaches the job that runs. */
import {
  DelayedError,
  type Job,
  type Processor,
  Queue,
  UnrecoverableError,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import type { JobProducer } from '../jobs/producer.js';
import { MAINTENANCE_QUEUE, QUEUE_PREFIX, QUEUES, SNAPSHOT_QUEUE, TURN_JOB } from '../jobs/queues.js';
import type { Logger } from '../logger.js';
import { KEYS } from '../stores/keys.js';
import type { TurnProcessor } from './camera-turn.js';
import type { ComparisonProcessor } from './comparison-job.js';
import type { DeliveryProcessor } from './delivery-job.js';
import type { WorkerMetrics } from './metrics.js';

/** A job that has failed for good, with everything saved: BullMQ does not try it again. */
class JobFailed extends UnrecoverableError {}

/** Runs a job; a permanent error, such as a payload of an unknown version, is logged and not tried again. */
async function refusingForGood<T>(logger: Logger, job: Job, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError && thrown.permanent)) throw thrown;
    logger.error({ job: job.id, name: job.name, reason: thrown.message }, 'job refused');
    throw new JobFailed(thrown.message);
  }
}

export interface QueueWorkers {
  /** Takes no more jobs and waits for those that run. */
  close(): Promise<void>;
}
interface Common {
  /** a consumer's connection; shared, and closed by whoever made it */
  readonly redis: Redis;
  readonly config: Pick<Config, 'jobLockMs'>;
  readonly logger: Logger;
}

/** How often a job may lose its worker before it counts as what kills workers. */
const MAX_STALLED = 3;
/** How long an archive job waits before it looks again whether live jobs are waiting. */
const ROOM_CHECK_MS = 250;
/** Deliveries mostly wait for their receivers: many at once, so that slow receivers do not hold up the others. */
const DELIVERY_CONCURRENCY = 32;
const SNAPSHOT_CONCURRENCY = 16;

const options = ({ redis, config }: Common, concurrency: number): WorkerOptions => ({
  connection: redis,
  prefix: QUEUE_PREFIX,
  concurrency,
  lockDuration: config.jobLockMs,
  stalledInterval: config.jobLockMs / 2,
  maxStalledCount: MAX_STALLED,
});

function startWorker(name: string, process: Processor, common: Common, concurrency: number): Worker {
  const worker = new Worker(name, process, options(common, concurrency));
  // Connection errors are logged by the connection; a worker without a listener would end the process.
  worker.on('error', (err) => common.logger.debug({ err, queue: name }, 'queue worker error'));
  worker.on('stalled', (job) =>
    common.logger.warn({ job, queue: name }, 'job lost its worker, trying again'),
  );
  return worker;
}

/**
 * Live and archive comparisons. Both may use every inference thread, but an archive job only begins while live ones leave a
 * thread free and none waits: an archive can fill an idle night and never delays a camera by more than the pairs that already run.
 * @param deps.threads inference threads; @param deps.concurrency jobs of a queue held at a time (some are fetched and decoded
 * while others are in the model)
 */
export function startComparisonWorkers(
  deps: Common & {
    processor: ComparisonProcessor;
    turns: TurnProcessor;
    queue: Pick<JobProducer, 'addTurn'>;
    threads: number;
    concurrency: number;
    metrics: WorkerMetrics;
  },
): QueueWorkers {
  const { processor, metrics, logger } = deps;

  const giveUp = async (id: string, queue: string, error: ScenedeltaError): Promise<void> => {
    if (await processor.giveUp(id, error)) metrics.comparison(queue, { kind: 'failed', error });
  };

  const run = async (job: Job, queue: string, signal: AbortSignal | undefined): Promise<string> => {
    const lastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    try {
      const outcome = await processor.process(job.data, {
        lastAttempt,
        signal: signal ?? new AbortController().signal,
      });
      metrics.comparison(queue, outcome);
      if (outcome.kind === 'failed') throw new JobFailed(`${outcome.error.code}: ${outcome.error.message}`);
      return outcome.kind;
    } catch (thrown) {
      if (!(thrown instanceof ScenedeltaError && thrown.permanent)) throw thrown;
      // The payload cannot be read.
      logger.error({ comparison: job.id, reason: thrown.message }, 'job refused');
      await giveUp(String(job.id), queue, thrown);
      throw new JobFailed(thrown.message);
    }
  };

  const runTurn = async (job: Job, token: string | undefined): Promise<string> => {
    const turn = await refusingForGood(logger, job, () =>
      deps.turns.process(job.data, { job: String(job.id) }),
    );
    if (turn.kind === 'worked') metrics.comparison('live', turn.outcome);
    if (turn.kind !== 'later') return turn.kind;
    await job.moveToDelayed(turn.at, token);
    throw new DelayedError();
  };

  let liveRunning = 0;
  let closing = false;
  const waitingForRoom = new Set<() => void>();
  const giveRoom = () => {
    for (const resolve of waitingForRoom) resolve();
    waitingForRoom.clear();
  };
  const liveQueue = new Queue(QUEUES.live, { connection: deps.redis, prefix: QUEUE_PREFIX });
  liveQueue.on('error', () => {}); // the connection's own listener has logged it
  /** Between two live jobs none runs for a moment, so the queue is asked too. A job that waits when the worker closes is done first. */
  const roomForArchive = async () => {
    while (!closing) {
      const free = liveRunning < deps.threads;
      if (free && (await liveQueue.getJobCountByTypes('waiting', 'prioritized')) === 0) return;
      await new Promise<void>((resolve) => {
        waitingForRoom.add(resolve);
        setTimeout(resolve, ROOM_CHECK_MS).unref();
      });
    }
  };
  // Three parameters each: BullMQ gives a signal only to a function that takes it.
  const runLive = async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    liveRunning++;
    try {
      return job.name === TURN_JOB ? await runTurn(job, token) : await run(job, 'live', signal);
    } finally {
      liveRunning--;
      giveRoom();
    }
  };
  const runArchive = async (job: Job, _token: string | undefined, signal: AbortSignal | undefined) => {
    await roomForArchive();
    return run(job, 'archive', signal);
  };
  const live = startWorker(QUEUES.live, runLive, deps, deps.concurrency);
  const archive = startWorker(QUEUES.archive, runArchive, deps, deps.concurrency);
  const both = [live, archive];

  for (const [queue, worker] of Object.entries({ live, archive })) {
    worker.on('failed', (job, err) => {
      // A job that lost its worker too often fails without having been given to `process` again.
      if (job?.id === undefined || err.name !== 'UnrecoverableError') return;
      if (job.name === TURN_JOB) {
        // The frame's own tries end this, and other frames wait behind it.
        deps.queue
          .addTurn(job.data.camera)
          .catch((err) => logger.error({ err }, 'turn not queued; recovery will'));
        return;
      }
      giveUp(job.id, queue, lostTooOften()).catch((err) =>
        logger.error({ err, comparison: job.id }, 'not saved'),
      );
    });
  }

  // Only the worker that runs a job can stop it, so each hears of all.
  const cancellations = deps.redis.duplicate();
  cancellations.on('error', (err) => logger.debug({ reason: err.message }, 'cancellations away'));
  cancellations.on('message', (_channel, id: string) => {
    for (const worker of both) worker.cancelJob(id, 'cancelled');
  });
  cancellations
    .subscribe(KEYS.cancellations)
    .catch((err) => logger.error({ err }, 'cancellations are not heard'));

  return {
    async close() {
      closing = true;
      giveRoom();
      await Promise.all(both.map((worker) => worker.close()));
      await liveQueue.close();
      cancellations.disconnect();
    },
  };
}

export const lostTooOften = (): ScenedeltaError =>
  new ScenedeltaError('inference-failed', `the worker died more than ${MAX_STALLED} times over these frames`);

export function startDeliveryWorker(
  deps: Common & { processor: DeliveryProcessor; metrics: WorkerMetrics },
): QueueWorkers {
  const run: Processor = async (job, token) => {
    const outcome = await refusingForGood(deps.logger, job, () => deps.processor.process(job.data));
    deps.metrics.delivery(outcome);
    if (outcome.kind === 'failed') throw new JobFailed('given up; the delivery log has the reasons');
    if (outcome.kind !== 'later') return outcome.kind;
    await job.moveToDelayed(outcome.at, token);
    throw new DelayedError();
  };
  const worker = startWorker(QUEUES.delivery, run, deps, DELIVERY_CONCURRENCY);
  return { close: () => worker.close() };
}

/** Pulls mostly wait for the cameras. @param deps.pull one pull, with the job's payload */
export function startSnapshotWorker(
  deps: Common & { pull: (payload: unknown) => Promise<void> },
): QueueWorkers {
  const worker = startWorker(SNAPSHOT_QUEUE, (job) => deps.pull(job.data), deps, SNAPSHOT_CONCURRENCY);
  worker.on('failed', (job, err) =>
    deps.logger.warn({ err, camera: job?.data?.camera }, 'snapshot failed; the next comes by itself'),
  );
  return { close: () => worker.close() };
}

/** @param deps.tasks by the name of the job */
export function startMaintenanceWorker(
  deps: Common & { tasks: Readonly<Record<string, () => Promise<unknown>>> },
): QueueWorkers {
  const run: Processor = async (job) => deps.tasks[job.name]?.();
  const worker = startWorker(MAINTENANCE_QUEUE, run, deps, 1);
  worker.on('failed', (job, err) =>
    deps.logger.warn({ err, task: job?.name }, 'maintenance failed; it comes again'),
  );
  return { close: () => worker.close() };
}
