/** The worker process: settings, connections, the model, the queues it serves, and the way out. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { loadConfig, redisUrlOf } from '../config.js';
import { createFrameFetcher } from '../frames/fetch.js';
import { newId } from '../ids.js';
import { createJobProducer } from '../jobs/producer.js';
import { linkKey, publicBaseUrl } from '../links.js';
import { createLogger } from '../logger.js';
import { createOutboundClient } from '../outbound/client.js';
import { Pipeline } from '../pipeline/compare.js';
import type { ModelDescription } from '../schemas/model-description.js';
import { type ClosingStep, closeOnSignals, endOnFatal } from '../shutdown.js';
import { createStores } from '../stores/create.js';
import { connectRedis } from '../stores/redis.js';
import { loadWebhookSecret } from '../webhook-secret.js';
import { createCameraRetention } from './camera-retention.js';
import { createSnapshotPuller, snapshotsWanted } from './camera-snapshot.js';
import { createTurnProcessor } from './camera-turn.js';
import { capacityOf } from './capacity.js';
import { createComparisonProcessor } from './comparison-job.js';
import { createDeliveryProcessor } from './delivery-job.js';
import { createEnqueueDelivery } from './enqueue-delivery.js';
import { startHeartbeat } from './heartbeat.js';
import { createWorkerMetrics, serveMetrics } from './metrics.js';
import {
  startComparisonWorkers,
  startDeliveryWorker,
  startMaintenanceWorker,
  startSnapshotWorker,
} from './queue-workers.js';
import { createRecovery, RECOVER_AFTER_MS } from './recovery.js';
import { createRetention } from './retention.js';

const RETENTION_EVERY_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

const config = loadConfig();
const logger = createLogger({ level: config.logLevel, name: 'worker' });
endOnFatal(logger, ['BundleError']);
const clock = Date.now;
const baseUrl = publicBaseUrl(config);

// What is started later is closed earlier.
const closing: ClosingStep[] = [];
const closeLater = (name: string, close: () => Promise<unknown>) => closing.unshift({ name, close });
const shutdown = closeOnSignals(closing, { deadlineMs: config.shutdownMs, logger });

// The connection first: a wrong address should be said before a model is loaded.
const redis = connectRedis(redisUrlOf(config), { role: 'consumer', logger });
closeLater('redis', async () => redis.disconnect());
const stores = createStores(config, redis);
closeLater('s3', async () => stores.s3?.close());
const outbound = createOutboundClient(config);
closeLater('outbound', () => outbound.close());
const secret = await loadWebhookSecret(config);
const metrics = createWorkerMetrics();
const metricsServer = await serveMetrics(metrics, { host: config.host, port: config.workerMetricsPort });
closeLater('metrics', () => metricsServer.close());

// Visible from now on, ready once it has models.
let models: ModelDescription[] = [];
const self = { id: newId('wrk'), host: hostname(), pid: process.pid, started_at: new Date().toISOString() };
const heartbeat = startHeartbeat({ workers: stores.workers, describe: () => ({ ...self, models }), logger });
closeLater('heartbeat', () => heartbeat.close());

const loading = Pipeline.start({ config, logger, onCacheLookup: metrics.featureCache });
closeLater('pipeline', async () => (await loading).close());
const pipeline = await loading;
// Models take seconds to load: a signal may have come meanwhile, and then no job may be taken any more.
await shutdown.goOn();
models = pipeline.models();
metrics.models(models);

const queue = createJobProducer(redis);
closeLater('queues fed', () => queue.close());
const enqueueDelivery = createEnqueueDelivery({ deliveries: stores.deliveries, queue });
const fetchFrame = createFrameFetcher({ ...stores, outbound, config });
const comparisons = createComparisonProcessor({
  ...stores,
  pipeline,
  fetchFrame,
  enqueueDelivery,
  clock,
  logger,
});
const turns = createTurnProcessor({
  ...stores,
  pipeline,
  fetchFrame,
  pixelLimit: config.pixelLimit,
  enqueueDelivery,
  queue,
  holdMs: 2 * config.jobLockMs,
  clock,
  token: randomUUID,
  logger,
});
const deliveries = createDeliveryProcessor({
  ...stores,
  outbound,
  secret,
  links: {
    baseUrl,
    key: linkKey(secret),
    framesMs: config.frameRetentionHours * HOUR_MS,
    heatmapsMs: config.heatmapRetentionHours * HOUR_MS,
  },
  clock,
  random: Math.random,
  logger,
});
const recover = createRecovery({
  ...stores,
  queue,
  enqueueDelivery,
  giveUp: comparisons.giveUp,
  metrics,
  clock,
  logger,
});
const ofCameras = createCameraRetention({ ...stores, clock });
const retain = createRetention({ ...stores, ofCameras, config, clock, logger });

const pull = createSnapshotPuller({
  ...stores,
  fetchFrame,
  queue,
  holdMs: config.outboundTimeoutMs + config.jobLockMs,
  clock,
  logger,
});
const reconcile = async () => queue.reconcileSnapshots(await snapshotsWanted(stores.cameras));

const common = { redis, config, logger, metrics };
const served = [
  startComparisonWorkers({
    ...common,
    processor: comparisons,
    turns,
    queue,
    ...capacityOf(config, models),
  }),
  startDeliveryWorker({ ...common, processor: deliveries }),
  startSnapshotWorker({ ...common, pull }),
  startMaintenanceWorker({ ...common, tasks: { recover, retain, reconcile } }),
];
closeLater('queues served', () => Promise.all(served.map((worker) => worker.close())));
await queue.scheduleMaintenance({
  recover: { everyMs: RECOVER_AFTER_MS },
  reconcile: { everyMs: RECOVER_AFTER_MS },
  retain: { everyMs: RETENTION_EVERY_MS },
});

await heartbeat.beat();
const serving = models.map(({ name, version, provider }) => ({ name, version, provider }));
logger.info({ worker: self.id, models: serving }, 'worker ready');
process.send?.('ready');
