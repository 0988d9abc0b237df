/**
 * The jobs of a batch, of three kinds whose work is in `steps.ts`: what follows each, and what happens if it fails. It
 * is independent of BullMQ; workers/queue-workers.ts adapts it.
 */
import { asScenedeltaError, isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import { type BatchJob, BatchJobSchema, parseJob } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import { isBatchFinal } from '../schemas/batch.js';
import type { BatchRecord } from '../stores/batches/batches.js';
import type { BatchPlan } from '../stores/batches/progress.js';
import { createBatchPlaces } from './places.js';
import type { BatchStepDependencies } from './steps.js';

/** The dependencies of the steps, and the queue of the next ones. */
export interface BatchDependencies extends BatchStepDependencies {
  readonly queue: Pick<JobProducer, 'addBatchRun'>;
}

/** interrupted: this worker closes, and another goes on. laterAt: the owner's share is used; epoch ms. */
export type BatchOutcome = 'done' | 'interrupted' | { readonly laterAt: number };
type RunOf = Pick<BatchRecord, 'id' | 'owner' | 'run' | 'progress'>;
export type BatchProcessor = ReturnType<typeof createBatchProcessor>;

export function createBatchProcessor(deps: BatchDependencies) {
  const { batches } = deps;
  const places = createBatchPlaces(deps.clock);
  /**
   * The steps are loaded with the first batch: they are a sixth of a worker's code, and read recordings alone. A job
   * whose load fails is tried again, as after any fault of the machine.
   */
  const steps = async () => (await import('./steps.js')).createBatchSteps(deps);

  const plan = async (batch: BatchRecord, signal: AbortSignal): Promise<void> => {
    const planned = await (await steps()).plan(batch, signal);
    if (planned.refused !== undefined) return giveUp(batch.id, planned.refused, planned.plan);
    if (await batches.begin(batch.id, planned.plan)) await batches.announce(batch.id, deps.clock());
  };

  /** Adds the jobs of the current run, again if they are there already. */
  const addRun = ({ id, owner, run, progress }: RunOf): Promise<void> =>
    deps.queue.addBatchRun({ id, owner }, { run: run.number, cameras: undone(progress) });

  /** Fails the batch. Its finished chunks are kept until it is deleted. @param plan with the inputs that failed */
  const giveUp = async (id: string, error: ScenedeltaError, plan?: BatchPlan): Promise<void> => {
    if (await batches.fail(id, error.toProblem(), deps.clock(), plan)) {
      deps.logger.warn({ batch_id: id, code: error.code, reason: error.message }, 'batch failed');
    }
  };

  const hasGoneOn = async (id: string, camera: number): Promise<boolean> => {
    const now = await batches.get(id);
    return now !== undefined && (now.chunks[camera] ?? 0) > (now.run.since[camera] ?? 0);
  };

  /**
   * A job that failed too often ends, whatever it has done meanwhile: a camera that has gone on since is taken up by
   * another run.
   */
  const nextRun = async (batch: BatchRecord): Promise<void> => {
    const { id, progress, chunks, run } = batch;
    const stuck = undone(progress).find((i) => (chunks[i] ?? 0) <= (run.since[i] ?? 0));
    if (stuck !== undefined) return giveUp(id, withoutProgress());
    const next = { number: run.number + 1, since: chunks };
    deps.logger.warn({ batch_id: id, run: next.number }, 'jobs of the batch have failed, going on');
    if (await batches.beginRun(id, next)) await addRun({ ...batch, run: next });
  };

  const finish = async (batch: BatchRecord, run: number): Promise<void> => {
    // This job has begun another run before, and its worker died.
    if (batch.run.number > run) return addRun(batch);
    if (undone(batch.progress).length > 0) return nextRun(batch);
    await (await steps()).writeResults(batch);
    await deps.files.removeCopies(batch.id);
    await batches.complete(batch.id, deps.clock());
  };

  /** @returns the time (epoch ms) at which to run it, if the owner's share is used */
  const runCamera = async (batch: BatchRecord, camera: number, signal: AbortSignal) => {
    const place = places.enter(batch.owner);
    if ('laterAt' in place) return place;
    try {
      await place.take();
      await (await steps()).camera(batch, camera, place.aside, signal);
    } finally {
      place.leave();
    }
  };

  const runStep = async (batch: BatchRecord, job: BatchJob, signal: AbortSignal) => {
    const { step, camera = 0, run = 0 } = job;
    if (step === 'camera') return runCamera(batch, camera, signal);
    if (step === 'finish') return finish(batch, run);
    if (batch.status === 'queued') await plan(batch, signal);
    const planned = (await batches.get(batch.id)) ?? batch;
    // A worker that died between the two steps has not added it.
    if (planned.status === 'running') await addRun(planned);
  };

  return {
    /**
     * @param options.signal aborts when the worker closes, or the batch is cancelled
     * @throws ScenedeltaError if another attempt may help
     */
    async process(
      payload: unknown,
      { signal, lastAttempt }: { signal: AbortSignal; lastAttempt: boolean },
    ): Promise<BatchOutcome> {
      const job = parseJob(BatchJobSchema, payload);
      const { batchId: id, camera } = job;
      const batch = await batches.get(id);
      if (batch === undefined || isBatchFinal(batch.status)) return 'done';
      try {
        const later = await runStep(batch, job, signal);
        return later ?? (signal.aborted ? 'interrupted' : 'done');
      } catch (thrown) {
        if (signal.aborted) return 'interrupted';
        const error = asScenedeltaError(thrown);
        if (isStoreRefusal(error) || (!error.permanent && !lastAttempt)) throw thrown;
        // The last job of the run takes up a camera that has gone on.
        if (error.permanent || camera === undefined || !(await hasGoneOn(id, camera))) await giveUp(id, error);
        return 'done';
      }
    },
    giveUp,
    /** @returns a text that changes whenever the job has gone on */
    async progressOf(payload: unknown): Promise<string> {
      const { batchId, camera } = parseJob(BatchJobSchema, payload);
      return camera === undefined ? '' : String((await batches.get(batchId))?.chunks[camera] ?? 0);
    },
    nextRun,
    addRun,
  };
}

/** Indices of the cameras that are not done. */
const undone = (progress: BatchRecord['progress']): number[] =>
  progress.flatMap((camera, i) => (camera?.done ? [] : [i]));

const withoutProgress = (): ScenedeltaError =>
  new ScenedeltaError('inference-failed', 'the jobs of a camera ended, and no chunk of frames was finished');
