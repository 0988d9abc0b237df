/** The worker process: settings, connections, models, the queues it serves, and shutdown. */
import { createOutboundClient } from '../outbound/client.js';
import { Pipeline } from '../pipeline/compare.js';
import { loadConfig, redisUrlOf } from '../process/config.js';
import { createLogger } from '../process/logger.js';
import { serveMetrics } from '../process/metrics-server.js';
import { createProxies } from '../process/proxies.js';
import { closeOnSignals, endOnFatal } from '../process/shutdown.js';
import { startTracing } from '../process/start-tracing.js';
import { loginKey } from '../secrets/login.js';
import { loadWebhookSecret } from '../secrets/webhook-secret.js';
import { createStores } from '../stores/create.js';
import { followRedisClock } from '../stores/redis/clock.js';
import { createDeployment } from '../stores/redis/deployment.js';
import { connectRedis } from '../stores/redis/redis.js';
import { createRefusedLogins } from '../stores/redis/refused-logins.js';
import { startHeartbeat } from '../stores/redis/workers.js';
import { createWorkerMetrics } from './metrics.js';
import { serveQueues } from './serve-queues.js';

const config = loadConfig();
const logger = createLogger({ level: config.logLevel, name: 'worker' });
endOnFatal(logger, ['BundleError']);

const { onShutdown, haltIfClosing } = closeOnSignals([], { deadlineMs: config.shutdownMs, logger });

const tracing = await startTracing(config, 'worker', logger);
onShutdown('tracing', () => tracing.close());

// 1. Connections. Redis comes first: a wrong address must be reported before a model is loaded.
const redis = connectRedis(redisUrlOf(config), { role: 'consumer', logger });
onShutdown('redis', async () => redis.disconnect());
// Not awaited here: while Redis is away, the refusal of a setting below must not wait for its answer.
const redisClock = followRedisClock(redis, { logger });
const stores = await createStores(config, redis);
onShutdown('s3', async () => stores.s3?.close());
const secret = await loadWebhookSecret(config);
const refusedLogins = createRefusedLogins(redis, loginKey(config, secret));
const outbound = createOutboundClient(config, { rtsp: config, refusedLogins, proxyOf: createProxies(config) });
onShutdown('outbound', () => outbound.close());

// 2. Visible to operators.
const metrics = createWorkerMetrics(() => stores.cameras.all());
const metricsServer = await serveMetrics(metrics, { host: config.host, port: config.workerMetricsPort });
onShutdown('metrics', () => metricsServer.close());
const heartbeat = startHeartbeat({ workers: stores.workers, logger });
onShutdown('heartbeat', () => heartbeat.close());

// 3. Models. Loading takes seconds; if a signal came meanwhile, no job may be taken any more.
const loading = Pipeline.start({
  ...{ config, logger },
  onCacheLookup: metrics.featureCache,
  onGpuFailure: metrics.gpuFailure,
});
onShutdown('pipeline', async () => (await loading).close());
const pipeline = await loading;
await haltIfClosing();
const models = pipeline.models();
metrics.models(models);

// 4. Queues, once the clock of Redis is known and if the frames of the jobs can be read: a job without its frame fails
// for good.
const { close: stopClock } = await redisClock;
onShutdown('clock', async () => stopClock());
await createDeployment(redis, stores.blobs).untilVisible(() => {
  const { s3FrameBucket, dataDir } = config;
  const place = s3FrameBucket === null ? `DATA_DIR=${dataDir}` : `S3_FRAME_BUCKET=${s3FrameBucket}`;
  logger.error(`the frames of the API are not in ${place}: no job is taken until they are, as with the API's setting`);
});
await haltIfClosing();
const queues = await serveQueues({
  config,
  logger,
  redis,
  stores,
  outbound,
  secret,
  pipeline,
  metrics,
  worker: heartbeat.id,
});
onShutdown('queues', () => queues.close());

await heartbeat.ready(models, queues.isRefused);
const serving = models.map(({ name, version, provider }) => ({ name, version, provider }));
logger.info({ worker_id: heartbeat.id, models: serving }, 'worker ready');
process.send?.('ready');
