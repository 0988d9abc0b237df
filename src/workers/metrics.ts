/** Prometheus metrics of a worker process. Labels have few values, and cameras at most MAX_CAMERAS of them. */
import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ModelDescription } from '../schemas/model-description.js';
import type { AlertCounts } from './camera-turn.js';
import type { DeliveryOutcome } from './delivery-job.js';
import type { ComparisonOutcome } from './life-cycle.js';

/** Stages for which 0 is a time (in whole milliseconds); for the others, 0 means that the stage was skipped. */
const ALWAYS_RUN = new Set(['queue', 'fetch', 'total']);

/** Cameras with a label of their own per process. Each label value is a time series that Prometheus keeps. */
const MAX_CAMERAS = 500;
/** Label of the cameras beyond these; it cannot be the id of a camera. */
const OTHER_CAMERAS = '(other)';

export interface WorkerMetrics {
  readonly registry: Registry;
  /** Counts a frame of a camera: its comparison, its verdict and its alerts. */
  frame(turn: { camera: string; outcome: ComparisonOutcome; alerts: AlertCounts }): void;
  comparison(queue: string, outcome: ComparisonOutcome): void;
  delivery(outcome: DeliveryOutcome): void;
  models(models: readonly ModelDescription[]): void;
  featureCache(hit: boolean): void;
}

export function createWorkerMetrics(): WorkerMetrics {
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
  const alerts = new Counter({
    name: 'scenedelta_alerts_total',
    help: 'Alerts by camera and outcome: sent (queued for its receiver), suppressed (by a cool-down).',
    labelNames: ['camera', 'outcome'],
    registers,
  });
  const cameras = new Set<string>();
  const labelOfCamera = (camera: string): string => {
    if (cameras.size < MAX_CAMERAS) cameras.add(camera);
    return cameras.has(camera) ? camera : OTHER_CAMERAS;
  };
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
      alerts.inc({ camera, outcome: 'sent' }, sent);
      alerts.inc({ camera, outcome: 'suppressed' }, suppressed);
    },
    delivery: (outcome) => deliveries.inc({ outcome: outcome.kind }),
    featureCache: (hit) => featureCache.inc({ outcome: hit ? 'hit' : 'miss' }),
    models(described) {
      models.reset();
      for (const { name, version, provider } of described) models.set({ model: name, version, provider }, 1);
    },
  };
}

function labelOf(outcome: ComparisonOutcome): string {
  if (outcome.kind === 'finished') return outcome.comparison.verdict ?? 'unknown';
  return outcome.kind === 'failed' ? outcome.error.code : outcome.why;
}

/** Serves GET /metrics and /livez. @param port 0: no server. @returns how to close it. */
export async function serveMetrics(
  metrics: WorkerMetrics,
  { host, port }: { host: string; port: number },
): Promise<{ close(): Promise<void> }> {
  if (port === 0) return { close: async () => {} };
  const server = createServer(async (req, res) => {
    if (req.url === '/livez') return res.end('{"alive":true}\n');
    if (req.url !== '/metrics') return res.writeHead(404).end();
    res.setHeader('content-type', metrics.registry.contentType);
    res.end(await metrics.registry.metrics());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
