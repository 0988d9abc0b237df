/** Prometheus metrics of a worker process. Labels have few values, and cameras at most MAX_CAMERAS of them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StoredCamera } from '../cameras/camera.js';
import type { ModelDescription } from '../schemas/model-description.js';
import { within } from '../within.js';
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

export interface WorkerMetrics {
  readonly registry: Registry;
  /** Counts a frame of a camera: its comparison, its verdict and its alerts. */
  frame(worked: WorkedFrame): void;
  comparison(queue: string, outcome: ComparisonOutcome): void;
  delivery(outcome: DeliveryOutcome): void;
  models(models: readonly ModelDescription[]): void;
  featureCache(hit: boolean): void;
  /** @param isRefused read at each scrape */
  storeRefusals(isRefused: () => boolean): void;
}

/** @param listCameras is called at each scrape; absent: no settings of cameras are shown */
export function createWorkerMetrics(listCameras?: ListCameras): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  // Dashboards and alert rules expect the names process_* and nodejs_*, without a prefix.
  collectDefaultMetrics({ register: registry });
  const comparisons = new Counter({
    name: 'scenedelta_comparisons_total',
    help: 'Comparisons by queue (live, archive; recovery: given up after their job was lost) and outcome: verdict, error code, or reason to skip.',
    labelNames: ['queue', 'outcome'],
    registers,
  });
  const stages = new Histogram({
    name: 'scenedelta_stage_duration_seconds',
    help: 'Wall time of each stage that finished comparisons went through; `queue` is the wait, `total` is from acceptance to the saved result.',
    labelNames: ['queue', 'stage'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1, 2, 5, 15, 60, 300],
    registers,
  });
  const frames = new Counter({
    name: 'scenedelta_camera_frames_total',
    help: `Frames by camera and verdict (failed, skipped: none); camera="${OTHER_CAMERAS}" from ${MAX_CAMERAS} cameras on.`,
    labelNames: ['camera', 'verdict'],
    registers,
  });
  const quietFrames = new Counter({
    name: 'scenedelta_camera_quiet_frames_total',
    help: `Frames that equal the last examined one, so that no model ran; camera="${OTHER_CAMERAS}" from ${MAX_CAMERAS} cameras on.`,
    labelNames: ['camera'],
    registers,
  });
  const frozenFrames = new Counter({
    name: 'scenedelta_camera_frozen_frames_total',
    help: 'Frames of a camera that has sent one picture for longer than its `frozen_after_s`; the same cameras.',
    labelNames: ['camera'],
    registers,
  });
  const tamperedFrames = new Counter({
    name: 'scenedelta_camera_tampered_frames_total',
    help: 'Frames with the verdict tamper by camera and its most probable kind; the same cameras.',
    labelNames: ['camera', 'tamper'],
    registers,
  });
  const lastFrame = new Gauge({
    name: 'scenedelta_camera_last_frame_timestamp_seconds',
    help: 'Time at which this worker ended the last frame of the camera; the same cameras.',
    labelNames: ['camera'],
    registers,
  });
  const alerts = new Counter({
    name: 'scenedelta_alerts_total',
    help: 'Alerts by camera and outcome: sent (to all receivers that there are), suppressed (by a cool-down).',
    labelNames: ['camera', 'outcome'],
    registers,
  });
  const cameras = new Set<string>();
  const labelOfCamera = (camera: string): string => {
    if (cameras.size < MAX_CAMERAS) cameras.add(camera);
    return cameras.has(camera) ? camera : OTHER_CAMERAS;
  };
  new Gauge({
    name: 'scenedelta_camera_alarms_per_day',
    help: `Alarm budget of each camera that exists, 0 without one; of the first ${MAX_CAMERAS}. Absent while Redis is away.`,
    labelNames: ['camera'],
    registers,
    async collect() {
      this.reset();
      if (listCameras === undefined) return;
      for (const { id, settings } of await readWithin(SETTINGS_LIMIT_MS, listCameras())) {
        const camera = labelOfCamera(id);
        if (camera !== OTHER_CAMERAS) this.set({ camera }, settings.alarms_per_day ?? 0);
      }
    },
  });
  const deliveries = new Counter({
    name: 'scenedelta_delivery_attempts_total',
    help: 'Webhook deliveries by outcome: delivered, failed (given up), later (will be tried again), dropped (erased).',
    labelNames: ['outcome'],
    registers,
  });
  const models = new Gauge({
    name: 'scenedelta_model_info',
    help: 'Always 1: the models of this worker and where they run.',
    labelNames: ['model', 'version', 'provider'],
    registers,
  });
  const featureCache = new Counter({
    name: 'scenedelta_feature_cache_lookups_total',
    help: 'Whole frames by whether their features were still kept (hit) or had to be computed (miss).',
    labelNames: ['outcome'],
    registers,
  });
  return {
    registry,
    comparison(queue, outcome) {
      comparisons.inc({ queue, outcome: labelOf(outcome) });
      if (outcome.kind !== 'finished') return;
      for (const [stage, ms] of Object.entries(outcome.comparison.timings_ms ?? {})) {
        if (ms > 0 || ALWAYS_RUN.has(stage)) stages.observe({ queue, stage }, ms / 1000);
      }
    },
    frame({ camera: id, outcome, alerts: { sent, suppressed } }) {
      this.comparison('live', outcome);
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
    delivery: (outcome) => deliveries.inc({ outcome: outcome.kind }),
    storeRefusals: (isRefused) =>
      void new Gauge({
        name: 'scenedelta_store_refused',
        help: '1 while Redis or the store of frames takes no writes of this worker, which has paused its queues.',
        registers,
        collect() {
          this.set(isRefused() ? 1 : 0);
        },
      }),
    featureCache: (hit) => featureCache.inc({ outcome: hit ? 'hit' : 'miss' }),
    models(described) {
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
