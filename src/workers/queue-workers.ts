/** Adapter between BullMQ and the processors: the rows of the table of queues that a worker serves (run-jobs.ts). */
import type { Job, Processor } from 'bullmq';
import { systemClock } from '../base/clock.js';
import { asScenedeltaError } from '../base/errors.js';
import { BATCH_JOBS } from '../batches/places.js';
import type { BatchProcessor } from '../batches/processor.js';
import type { ArchiveGate } from '../jobs/archive-gate.js';
import type { JobProducer } from '../jobs/producer.js';
import { PRIORITY, QUEUES, TURN_JOB } from '../jobs/queues.js';
import {
  type Common,
  type Counted,
  delay,
  isLast,
  JobFailed,
  type QueueRow,
  type QueueTable,
  runJob,
} from '../jobs/run-jobs.js';
import type { Logger } from '../process/logger.js';
import type { TurnProcessor, TurnStage } from './camera-turn.js';
import type { ComparisonProcessor } from './comparison-job.js';
import { type DeliveryProcessor, TAKEN_MS } from './deliveries/delivery-job.js';
import { DELIVERY_CONCURRENCY } from './deliveries/delivery-limits.js';
import { FETCH_CONCURRENCY } from './fetch-limits.js';
import type { ComparisonOutcome } from './life-cycle.js';
import type { WorkerMetrics } from './metrics.js';

/** Pulls mostly wait for the cameras. */
const SNAPSHOT_CONCURRENCY = 16;

/**
 * Rows of live and archive comparisons, the turns of cameras, and the fetches of both, which hold no slot of a
 * comparison: addresses that hang must not stop uploads.
 * @param deps.concurrency jobs held per queue, some of which are fetched and decoded while others are in the model
 */
export function comparisonQueues(
  deps: Pick<Common, 'logger' | 'guard'> & {
    processor: ComparisonProcessor;
    turns: TurnProcessor;
    queue: Pick<JobProducer, 'addTurn' | 'addComparison'>;
    gate: ArchiveGate;
    concurrency: number;
    metrics: WorkerMetrics;
  },
): QueueTable {
  const { processor, metrics, logger, gate, concurrency } = deps;

  const runOrGiveUp = <T>(job: Job, queue: string, work: () => Promise<T>): Promise<T> =>
    runJob(logger, job, work, async (error) => {
      if (await processor.giveUp(String(job.id), error)) metrics.comparison(queue, { kind: 'failed', error });
    });

  const runComparison = async (job: Job, queue: string, signal = new AbortController().signal) =>
    ended(
      queue,
      await runOrGiveUp(job, queue, () => processor.process(job.data, { lastAttempt: isLast(job), signal })),
    );

  const ended = (queue: string, outcome: ComparisonOutcome): string => {
    metrics.comparison(queue, outcome);
    if (outcome.kind === 'failed') throw new JobFailed(`${outcome.error.code}: ${outcome.error.message}`);
    return outcome.kind;
  };

  const runTurn = async (job: Job, token: string | undefined, stage: TurnStage) => {
    // The jobs of the two queues are numbered alike, and the holder of a turn is known by its job.
    const holder = stage === 'fetch' ? `fetch-${job.id}` : String(job.id);
    const onFrame = metrics.frame.bind(metrics);
    const turn = await runJob(logger, job, () => deps.turns.process(job.data, { job: holder, stage, onFrame }));
    return turn.kind === 'later' ? delay(job, turn.at, token) : turn.kind;
  };

  // Three parameters each: BullMQ passes a signal only to a function that takes it.
  const runLive = (job: Job, token: string | undefined, signal: AbortSignal | undefined) =>
    gate.live<string>(() =>
      job.name === TURN_JOB ? runTurn(job, token, 'compare') : runComparison(job, 'live', signal),
    );
  const runArchive = async (job: Job, _token: string | undefined, signal: AbortSignal | undefined) => {
    await gate.pass();
    return runComparison(job, 'archive', signal);
  };
  /** The name of a fetch job is the queue in which its comparison waits next. */
  const runFetch = async (job: Job, token: string | undefined, cancelled: AbortSignal | undefined) => {
    if (job.name === TURN_JOB) return runTurn(job, token, 'fetch');
    const queue = job.name === 'archive' ? 'archive' : 'live';
    const signal = cancelled ?? new AbortController().signal;
    const fetched = await runOrGiveUp(job, queue, () =>
      processor.fetch(job.data, { lastAttempt: isLast(job), signal, archive: queue === 'archive' }),
    );
    if (fetched.kind === 'later') return delay(job, fetched.at, token);
    if (fetched.kind !== 'fetched') return ended(queue, fetched);
    // A kill before this step loses nothing: this job has not ended, so another worker runs it again.
    await deps.queue.addComparison(job.data, { queue, priority: job.opts.priority ?? PRIORITY.live });
    return fetched.kind;
  };

  const counted: Counted = (job, work) => {
    if (job.name === TURN_JOB) return work();
    const queue = job.queueName === QUEUES.archive ? 'archive' : 'live';
    return runOrGiveUp(job, queue, () => deps.guard.counted(String(job.id), work));
  };
  const onCancelled: QueueRow['onCancelled'] = (id, worker) => worker.cancelJob(id, 'cancelled');
  return {
    [QUEUES.live]: { run: runLive, concurrency, counted, onCancelled },
    [QUEUES.archive]: { run: runArchive, concurrency, counted, onCancelled },
    [QUEUES.fetch]: { run: runFetch, concurrency: FETCH_CONCURRENCY, counted, onCancelled },
  };
}

/** Reason to stop a job of a batch that goes on later. */
const GIVES_WAY = 'a suspect has to run alone';

/** Steps of batches: batches/places.ts decides how many of the jobs go on at a time. */
export function batchQueue(
  deps: Pick<Common, 'logger' | 'guard'> & { processor: BatchProcessor; queue: Pick<JobProducer, 'batchJobBegins'> },
): QueueRow {
  const { processor } = deps;
  const closing = new AbortController();
  /** per job of this worker */
  const stops = new Map<string, AbortController>();
  /** per batch, of the jobs of this worker */
  const running = new Map<string, Set<AbortController>>();
  const run: Processor = async (job, token) => {
    const { batchId } = job.data;
    await deps.queue.batchJobBegins(job.opts.priority);
    const stop = stops.get(String(job.id)) ?? new AbortController();
    const onClose = () => stop.abort();
    closing.signal.addEventListener('abort', onClose, { once: true });
    const ofBatch = running.get(batchId) ?? new Set();
    running.set(batchId, ofBatch.add(stop));
    try {
      const outcome = await runJob(deps.logger, job, () =>
        processor.process(job.data, { signal: stop.signal, lastAttempt: isLast(job) }),
      );
      if (typeof outcome === 'object') return await delay(job, outcome.laterAt, token);
      const isQueuedAgain = closing.signal.aborted || stop.signal.reason === GIVES_WAY;
      return outcome === 'interrupted' && isQueuedAgain ? await delay(job, systemClock(), token) : outcome;
    } finally {
      closing.signal.removeEventListener('abort', onClose);
      ofBatch.delete(stop);
      if (ofBatch.size === 0) running.delete(batchId);
    }
  };
  const counted: Counted = async (job, work) => {
    const progress = await processor.progressOf(job.data);
    const stop = new AbortController();
    stops.set(String(job.id), stop);
    const long = {
      giveWay: () => stop.abort(GIVES_WAY),
      hasProgressed: async () => (await processor.progressOf(job.data)) !== progress,
    };
    return runJob(
      deps.logger,
      job,
      () => deps.guard.counted(String(job.id), work, { progress, long }),
      (error) => processor.giveUp(job.data.batchId, error),
    ).finally(() => stops.delete(String(job.id)));
  };
  const onFailed: QueueRow['onFailed'] = (job, error) => {
    const ended = job !== undefined && job.attemptsMade >= (job.opts.attempts ?? 1);
    // The last job of a run decides about its cameras.
    if (!ended || job.name === 'camera') return;
    processor
      .giveUp(job.data.batchId, asScenedeltaError(error))
      .catch((err) => deps.logger.error({ err, job_id: job.id }, 'failed job of a batch not handled'));
  };
  return {
    run,
    concurrency: BATCH_JOBS,
    counted,
    onFailed,
    onCancelled: (id) => {
      for (const stop of running.get(id) ?? []) stop.abort();
    },
    onClose: () => closing.abort(),
  };
}

export function deliveryQueue(
  deps: Pick<Common, 'logger' | 'guard'> & { processor: DeliveryProcessor; metrics: WorkerMetrics },
): QueueRow {
  const run: Processor = async (job, token) => {
    const outcome = await runJob(deps.logger, job, () =>
      deps.processor.process(job.data, () => deps.guard.holds(String(job.id))),
    );
    deps.metrics.delivery(outcome);
    if (outcome.kind === 'failed') throw new JobFailed('given up; the delivery log has the reasons');
    return outcome.kind === 'later' ? delay(job, outcome.at, token) : outcome.kind;
  };
  const counted: Counted = (job, work) =>
    runJob(
      deps.logger,
      job,
      async () => {
        const ended = await deps.guard.counted(String(job.id), work, { exclusive: true });
        return ended === 'busy' ? delay(job, systemClock() + TAKEN_MS, job.token) : ended;
      },
      (error) => deps.processor.giveUp(job.data, error),
    );
  return { run, concurrency: DELIVERY_CONCURRENCY, counted };
}

/** @param pull runs one pull, with the job's payload */
export const snapshotQueue = (pull: (payload: unknown) => Promise<void>, logger: Logger): QueueRow => ({
  run: (job) => pull(job.data),
  concurrency: SNAPSHOT_CONCURRENCY,
  onFailed: (job, err) =>
    logger.warn({ err, camera_id: job?.data?.camera }, 'snapshot failed; the next pull follows as scheduled'),
});

/** @param tasks by the name of the job */
export const maintenanceQueue = (
  tasks: Readonly<Record<string, () => Promise<unknown>>>,
  logger: Logger,
): QueueRow => ({
  run: async (job) => tasks[job.name]?.(),
  concurrency: 1,
  onFailed: (job, err) => logger.warn({ err, task: job?.name }, 'maintenance failed; it runs again as scheduled'),
});
