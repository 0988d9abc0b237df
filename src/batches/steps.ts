/**
 * Work of the three kinds of jobs of a batch, on its recordings: plan (list the inputs), camera (process one camera's
 * recordings, chunk by chunk), finish (write the results). Each may run twice. `processor.ts` decides what follows.
 */
import type { BlobStore } from '../base/blobs.js';
import { invalidValue, type ScenedeltaError } from '../base/errors.js';
import { isoTime } from '../base/wall-clock.js';
import type { FrameDependencies } from '../camera/fold/examine.js';
import { recordedCamera } from '../camera/settings/camera.js';
import type { FootageSequence } from '../footage/inputs/recording-plan.js';
import { runSequence } from '../footage/run/sequence-run.js';
import type { OutboundClient } from '../outbound/client.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import type { Counts } from '../schemas/batch.js';
import type { BatchFiles } from '../stores/batches/batch-files.js';
import { type BatchRecord, type BatchStore, plannedSettings } from '../stores/batches/batches.js';
import type { BatchPlan, PlannedCamera } from '../stores/batches/progress.js';
import type { S3Client } from '../stores/blobs/s3-client.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import { seesCamera } from '../stores/redis/visibility.js';
import { batchCheckpoints, ChunkTaken } from './checkpoints.js';
import { createMaterialize, severalTimes } from './materialize.js';
import type { Place } from './places.js';
import { nothingToProcess, planBatch } from './plan.js';
import { progressReports } from './reports.js';
import { writeBatchResults } from './results.js';
import { loadPlan, storePlan } from './stored-plan.js';
import { searchBatch, writeSearchResults } from './when.js';

export interface BatchStepDependencies {
  readonly batches: BatchStore;
  readonly cameras: Pick<CameraStore, 'get'>;
  readonly blobs: BlobStore;
  readonly files: BatchFiles;
  readonly s3: S3Client | undefined;
  readonly outbound: Pick<OutboundClient, 'download'>;
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

/** @property refused why there is nothing to process; absent: something is */
interface Planned {
  readonly plan: BatchPlan;
  readonly refused?: ScenedeltaError;
}

export function createBatchSteps(deps: BatchStepDependencies) {
  const { batches, blobs, pipeline } = deps;

  const plan = async ({ id, request }: BatchRecord, signal: AbortSignal): Promise<Planned> => {
    const planned = await severalTimes(() => planBatch(id, request, deps, signal), signal);
    const { failures, unlisted, warnings } = planned;
    const listed = failures.map(({ camera, file, code, reason }) => ({ camera, file, code, reason }));
    const ofInputs = { failures: listed, warnings, ...(unlisted === 0 ? {} : { unlisted }) };
    if (planned.sequences.length === 0) {
      return { plan: { cameras: [], ...ofInputs }, refused: nothingToProcess(planned) };
    }
    const sequences = request.when === undefined ? planned.sequences : [oneCamera(planned.sequences, request.camera)];
    for (const [i, sequence] of sequences.entries()) {
      await storePlan(id, i, sequence, blobs);
    }
    const cameras: PlannedCamera[] = [];
    for (const [i, { camera, items, range, endsAt }] of sequences.entries()) {
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
        frames_expected: planned.framesExpected[i] ?? null,
      });
    }
    return { plan: { cameras, ...ofInputs } };
  };

  /** Reports from the first frame on, between the chunks too: a chunk may take minutes. */
  const reporter = (batch: BatchRecord, index: number) => {
    let reportedAt = Number.NEGATIVE_INFINITY;
    const report = progressReports(batch, index, deps);
    return (counts: Counts, at: number | null) => {
      if (deps.clock() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = deps.clock();
      const reached = at === null ? null : isoTime(at);
      report({ ...counts, reached, done: false }).catch((err) =>
        deps.logger.debug({ err, batch_id: batch.id }, 'progress not reported'),
      );
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
        onProgress: reporter(batch, index),
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

  return {
    plan,
    /** Runs until the recordings of the camera end, or another worker's chunks do. */
    camera: processToEnd,
    writeResults: (batch: BatchRecord): Promise<void> =>
      batch.request.when === undefined ? writeBatchResults(batch, deps) : writeSearchResults(batch, blobs),
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
