/** Prometheus metrics of a worker process. Labels have few values, and cameras at most MAX_CAMERAS of them. */
import { within } from '../base/within.js';
import type { StoredCamera } from '../camera/settings/camera.js';
import { createMetrics } from '../process/metrics.js';
import type { ModelDescription } from '../schemas/model-description.js';
import type { WorkedFrame } from './camera-turn.js';
import type { DeliveryOutcome } from './deliveries/delivery-job.js';
import { type ComparisonOutcome, labelOf } from './life-cycle.js';

/** Stages for which 0 is a time (in whole milliseconds); for the others, 0 means that the stage was skipped. */
const ALWAYS_RUN = new Set(['queue', 'fetch', 'total']);

/** Cameras with a label of their own per process. Each label value is a time series that Prometheus keeps. */
const MAX_CAMERAS = 500;
/** Label of the cameras beyond these; it cannot be the id of a camera. */
const OTHER_CAMERAS = '(other)';

/** Longest reading of the cameras' settings during a scrape, ms. Without Redis it would not end. */
const SETTINGS_LIMIT_MS = 2_000;

/** @returns every camera, ordered by id */
type ListCameras = () => AsyncIterable<Pick<StoredCamera, 'id' | 'settings'>>;

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** @param listCameras is called at each scrape; absent: no settings of cameras are shown */
export function createWorkerMetrics(listCameras?: ListCameras) {
  const { registry, counter, gauge, histogram, scraped } = createMetrics();
  const comparisons = counter(
    'scenedelta_comparisons_total',
    'Comparisons by queue (live, archive; recovery: given up after their job was lost) and outcome: verdict, error code, or reason to skip.',
    'queue',
    'outcome',
  );
  const stages = histogram(
    'scenedelta_stage_duration_seconds',
    'Wall time of each stage that finished comparisons went through; `queue` is the wait, `total` is from acceptance to the saved result.',
    ['queue', 'stage'],
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1, 2, 5, 15, 60, 300],
  );
  const frames = counter(
    'scenedelta_camera_frames_total',
    `Frames by camera and verdict (failed, skipped: none); camera="${OTHER_CAMERAS}" from ${MAX_CAMERAS} cameras on.`,
    'camera',
    'verdict',
  );
  const quietFrames = counter(
    'scenedelta_camera_quiet_frames_total',
    `Frames that equal the last examined one, so that no model ran; camera="${OTHER_CAMERAS}" from ${MAX_CAMERAS} cameras on.`,
    'camera',
  );
  const frozenFrames = counter(
    'scenedelta_camera_frozen_frames_total',
    'Frames of a camera that has sent one picture for longer than its `frozen_after_s`; the same cameras.',
    'camera',
  );
  const tamperedFrames = counter(
    'scenedelta_camera_tampered_frames_total',
    'Frames with the verdict tamper by camera and its most probable kind; the same cameras.',
    'camera',
    'tamper',
  );
  const lastFrame = gauge(
    'scenedelta_camera_last_frame_timestamp_seconds',
    'Time at which this worker ended the last frame of the camera; the same cameras.',
    'camera',
  );
  const alerts = counter(
    'scenedelta_alerts_total',
    'Alerts by camera and outcome: sent (to all receivers that there are), suppressed (by a cool-down), held_back (once per endpoint whose limit it exceeds).',
    'camera',
    'outcome',
  );
  const cameras = new Set<string>();
  const labelOfCamera = (camera: string): string => {
    if (cameras.size < MAX_CAMERAS) cameras.add(camera);
    return cameras.has(camera) ? camera : OTHER_CAMERAS;
  };
  scraped(
    'scenedelta_camera_false_alarms_per_day',
    `False-alarm budget of each camera that exists, 0 without one; of the first ${MAX_CAMERAS}. Absent while Redis is away.`,
    ['camera'],
    async (gauge) => {
      if (listCameras === undefined) return;
      for (const { id, settings } of await readWithin(SETTINGS_LIMIT_MS, listCameras())) {
        const camera = labelOfCamera(id);
        if (camera !== OTHER_CAMERAS) gauge.set({ camera }, settings.false_alarms_per_day ?? 0);
      }
    },
  );
  const deliveries = counter(
    'scenedelta_delivery_attempts_total',
    'Webhook deliveries by outcome: delivered, failed (given up), later (will be tried again), dropped (erased).',
    'outcome',
  );
  const models = gauge(
    'scenedelta_model_info',
    'Always 1: the models of this worker and where they run.',
    'model',
    'version',
    'provider',
  );
  const featureCache = counter(
    'scenedelta_feature_cache_lookups_total',
    'Whole frames by whether their features were still kept (hit) or had to be computed (miss).',
    'outcome',
  );
  const gpuFailures = counter(
    'scenedelta_gpu_failures_total',
    'Tasks that failed on a GPU, and were given to a thread of the CPU.',
    'operation',
  );
  const countComparison = (queue: string, outcome: ComparisonOutcome): void => {
    comparisons.inc({ queue, outcome: labelOf(outcome) });
    if (outcome.kind !== 'finished') return;
    for (const [stage, ms] of Object.entries(outcome.comparison.timings_ms ?? {})) {
      if (ms > 0 || ALWAYS_RUN.has(stage)) stages.observe({ queue, stage }, ms / 1000);
    }
  };
  return {
    registry,
    comparison: countComparison,
    /** Counts a frame of a camera: its comparison, its verdict and its alerts. */
    frame({ camera: id, outcome, alerts: { sent, suppressed } }: WorkedFrame): void {
      countComparison('live', outcome);
      const camera = labelOfCamera(id);
      const verdict = outcome.kind === 'finished' ? labelOf(outcome) : outcome.kind;
      frames.inc({ camera, verdict });
      lastFrame.setToCurrentTime({ camera });
      const tamper = outcome.kind === 'finished' ? outcome.comparison.tamper?.[0]?.name : undefined;
      if (tamper !== undefined) tamperedFrames.inc({ camera, tamper });
      const frame = outcome.kind === 'finished' ? outcome.comparison.camera_frame : undefined;
      if (frame?.nothing_new_since !== undefined) quietFrames.inc({ camera });
      if (frame?.notes.some(({ code }) => code === 'frozen')) frozenFrames.inc({ camera });
      alerts.inc({ camera, outcome: 'sent' }, sent);
      alerts.inc({ camera, outcome: 'suppressed' }, suppressed);
    },
    /** Counts a message that the limit of an endpoint holds back. */
    heldBack: (camera: string): void => alerts.inc({ camera: labelOfCamera(camera), outcome: 'held_back' }),
    delivery: (outcome: DeliveryOutcome): void => deliveries.inc({ outcome: outcome.kind }),
    /** @param isRefused read at each scrape */
    storeRefusals: (isRefused: () => boolean): void =>
      scraped(
        'scenedelta_store_refused',
        '1 while Redis or the store of frames takes no writes of this worker, which has paused its queues.',
        [],
        (gauge) => gauge.set(isRefused() ? 1 : 0),
      ),
    gpuFailure: (operation: string): void => gpuFailures.inc({ operation }),
    featureCache: (hit: boolean): void => featureCache.inc({ outcome: hit ? 'hit' : 'miss' }),
    models(described: readonly ModelDescription[]): void {
      models.reset();
      for (const { name, version, provider } of described) models.set({ model: name, version, provider }, 1);
    },
  };
}

/** @returns the first MAX_CAMERAS items; none if they cannot be read in time */
async function readWithin<T>(ms: number, items: AsyncIterable<T>): Promise<readonly T[]> {
  const read: T[] = [];
  const reading = (async () => {
    for await (const item of items) if (read.push(item) === MAX_CAMERAS) break;
    return true;
  })();
  const complete = await within(ms, reading, false).catch(() => false);
  // A part of the cameras would look as if the others had been erased.
  return complete ? read : [];
}
