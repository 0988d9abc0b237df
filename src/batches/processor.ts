/**
 * Work of a batch, in three kinds of jobs: plan (list the inputs), camera (process one camera's recordings, chunk by
 * chunk), finish (write the results). Each may run twice. It is independent of BullMQ; workers/queue-workers.ts adapts
 * it.
 */
import type { BlobStore } from '../base/blobs.js';
import { asScenedeltaError, invalidValue, isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import { isoTime } from '../base/wall-clock.js';
import type { FrameDependencies } from '../camera/fold/examine.js';
import type { FootageSequence } from '../footage/inputs/recording-plan.js';
import { recordedCamera } from '../footage/replay/recorded-camera.js';
import type { Counts } from '../footage/run/checkpoint.js';
import { runSequence } from '../footage/run/sequence-run.js';
import { type BatchJob, BatchJobSchema, parseJob } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import type { OutboundClient } from '../outbound/client.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { isBatchFinal } from '../schemas/batch.js';
import type { BatchFiles } from '../stores/batches/batch-files.js';
import {
  type BatchPlan,
  type BatchRecord,
  type BatchStore,
  type PlannedCamera,
  plannedSettings,
} from '../stores/batches/batches.js';
import type { S3Client } from '../stores/blobs/s3-client.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import { seesCamera } from '../stores/redis/visibility.js';
import { batchCheckpoints, ChunkTaken } from './checkpoints.js';
import { createMaterialize, severalTimes } from './materialize.js';
import { createBatchPlaces, type Place } from './places.js';
import { nothingToProcess, planBatch } from './plan.js';
import { writeBatchResults } from './results.js';
import { loadPlan, storePlan } from './stored-plan.js';
import { searchBatch, writeSearchResults } from './when.js';

export interface BatchDependencies {
  readonly batches: BatchStore;
  readonly cameras: Pick<CameraStore, 'get'>;
  readonly blobs: BlobStore;
  readonly files: BatchFiles;
  readonly s3: S3Client | undefined;
  readonly outbound: Pick<OutboundClient, 'download'>;
  readonly queue: Pick<JobProducer, 'addBatchRun'>;
  /** givingWay */
  readonly pipeline: FrameDependencies['pipeline'];
  readonly config: Pick<
    Config,
    | 'ffmpeg'
    | 'ffmpegHwaccel'
    | 'videoPixelLimit'
    | 'footageLimit'
    | 'frameLimit'
    | 'pixelLimit'
    | 'decodeTimeout'
    | 'defaultModel'
  >;
  readonly logger: Logger;
  /** epoch ms */
  readonly clock: () => number;
}

const REPORT_EVERY_MS = 1_000;

/** interrupted: this worker closes, and another goes on. laterAt: the owner's share is used; epoch ms. */
export type BatchOutcome = 'done' | 'interrupted' | { readonly laterAt: number };
type RunOf = Pick<BatchRecord, 'id' | 'owner' | 'run' | 'progress'>;
export type BatchProcessor = ReturnType<typeof createBatchProcessor>;

export function createBatchProcessor(deps: BatchDependencies) {
  const { batches, blobs, pipeline } = deps;
  const places = createBatchPlaces(deps.clock);

  const plan = async ({ id, request }: BatchRecord, signal: AbortSignal): Promise<void> => {
    const planned = await severalTimes(() => planBatch(id, request, deps, signal), signal);
    const { failures, unlisted, warnings } = planned;
    const listed = failures.map(({ camera, file, code, reason }) => ({ camera, file, code, reason }));
    const ofInputs = { failures: listed, warnings, ...(unlisted === 0 ? {} : { unlisted }) };
    if (planned.sequences.length === 0) return giveUp(id, nothingToProcess(planned), { cameras: [], ...ofInputs });
    const sequences = request.when === undefined ? planned.sequences : [oneCamera(planned.sequences, request.camera)];
    for (const [i, sequence] of sequences.entries()) {
      await storePlan(id, i, sequence, blobs);
    }
    const cameras: PlannedCamera[] = [];
    for (const { camera, items, range, endsAt } of sequences) {
      // As they are now: a batch that goes on tomorrow has the same results.
      const isSeen = seesCamera(request.visibility ?? 'everything', camera);
      const stored = isSeen ? ((await deps.cameras.get(camera))?.settings.zones ?? []) : [];
      const privacy = stored.filter(({ type }) => type === 'privacy');
      cameras.push({
        camera,
        files: items.length,
        ...(privacy.length === 0 ? {} : { privacy }),
        starts_at: new Date(range.from).toISOString(),
        ends_at: new Date(endsAt).toISOString(),
      });
    }
    await batches.begin(id, { cameras, ...ofInputs });
  };

  /** Adds the jobs of the current run, again if they are there already. */
  const addRun = ({ id, owner, run, progress }: RunOf): Promise<void> =>
    deps.queue.addBatchRun({ id, owner }, { run: run.number, cameras: undone(progress) });

  /** Reports from the first frame on, between the chunks too: a chunk may take minutes. */
  const reporter = (id: string, index: number) => {
    let reportedAt = Number.NEGATIVE_INFINITY;
    return (counts: Counts, at: number | null) => {
      if (deps.clock() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = deps.clock();
      const reached = at === null ? null : isoTime(at);
      batches
        .report(id, index, { ...counts, reached, done: false })
        .catch((err) => deps.logger.debug({ err, batch_id: id }, 'progress not reported'));
    };
  };

  const processCamera = async (
    batch: BatchRecord,
    index: number,
    aside: Place['aside'],
    signal: AbortSignal,
  ): Promise<void> => {
    const { id } = batch;
    const request = batch.request;
    const sequence = await loadPlan(id, index, blobs);
    if (request.when !== undefined) return searchBatch(batch, sequence.items, { ...deps, aside }, signal);
    const { ffmpeg, ffmpegHwaccel, videoPixelLimit, frameLimit, footageLimit } = deps.config;
    await runSequence(
      sequence,
      recordedCamera(sequence.camera, plannedSettings(batch, index)),
      {
        pipeline,
        decodeLimits: deps.config,
        checkpoints: batchCheckpoints(id, index, deps),
        onProgress: reporter(id, index),
        source: {
          ffmpeg,
          ffmpegHwaccel,
          videoPixelLimit,
          frameLimit,
          every: request.every,
          aside,
          materialize: createMaterialize(id, { ...deps, footageLimit }),
        },
      },
      signal,
    );
  };

  const processToEnd: typeof processCamera = async (batch, ...rest) => {
    try {
      await processCamera(batch, ...rest);
    } catch (thrown) {
      if (!(thrown instanceof ChunkTaken)) throw thrown;
      const now = await batches.get(batch.id);
      // From the checkpoint that was committed in its place.
      if (now?.status === 'running') await processToEnd(batch, ...rest);
    }
  };

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
    if (batch.request.when === undefined) await writeBatchResults(batch, deps);
    else await writeSearchResults(batch, blobs);
    await deps.files.removeCopies(batch.id);
    await batches.complete(batch.id, deps.clock());
  };

  /** @returns the time (epoch ms) at which to run it, if the owner's share is used */
  const runCamera = async (batch: BatchRecord, camera: number, signal: AbortSignal) => {
    const place = places.enter(batch.owner);
    if ('laterAt' in place) return place;
    try {
      await place.take();
      await processToEnd(batch, camera, place.aside, signal);
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

/** @throws ScenedeltaError 'invalid-value' unless the recordings are of one camera, or of that one among others */
function oneCamera(sequences: readonly FootageSequence[], camera: string | null): FootageSequence {
  const found = sequences.length === 1 ? sequences[0] : sequences.find((sequence) => sequence.camera === camera);
  if (found !== undefined) return found;
  const names = sequences.map((sequence) => sequence.camera).join(', ');
  const expected = 'expected one camera, or its name in camera';
  throw invalidValue(`the recordings are of ${names}: ${expected}`, 'camera');
}

/** Indices of the cameras that are not done. */
const undone = (progress: BatchRecord['progress']): number[] =>
  progress.flatMap((camera, i) => (camera?.done ? [] : [i]));

const withoutProgress = (): ScenedeltaError =>
  new ScenedeltaError('inference-failed', 'the jobs of a camera ended, and no chunk of frames was finished');
