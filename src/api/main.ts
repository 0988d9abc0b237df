/** Entry of the API process: settings, connections, the app, its port, and the order of closing. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../base/clock.js';
import { createJobProducer } from '../jobs/producer.js';
import { createQuestioner } from '../jobs/questioner.js';
import { loadConfig, redisUrlOf } from '../process/config.js';
import { createLogger } from '../process/logger.js';
import { closeOnSignals, endOnFatal } from '../process/shutdown.js';
import { startTracing } from '../process/start-tracing.js';
import { loadEvidenceKey } from '../secrets/evidence-key.js';
import { httpAddress, linkKey } from '../secrets/links.js';
import { loginKey } from '../secrets/login.js';
import { loadWebhookSecret } from '../secrets/webhook-secret.js';
import { diskShortage } from '../stores/blobs/disk.js';
import { createChangeLog } from '../stores/changes/change-log.js';
import { createStores } from '../stores/create.js';
import { createEventReader } from '../stores/delivery/events.js';
import { createApiKeyStore } from '../stores/redis/api-keys.js';
import { followRedisClock } from '../stores/redis/clock.js';
import { createDeployment } from '../stores/redis/deployment.js';
import { connectRedis } from '../stores/redis/redis.js';
import { buildApp } from './app.js';
import { createIdempotencyRecords } from './intake/idempotency.js';
import { assertDefaultModel } from './intake/models.js';
import { createRateCounter } from './rate-counter.js';
import { createLiveSearch } from './search/live-index.js';
import { createQueryVectors } from './search/query-vectors.js';

/** Share of SHUTDOWN_MS after which slow clients are disconnected, to leave time for the other steps. */
const HTTP_SHARE = 0.8;
/** Longest closing of the queue; no command is pending by then. */
const QUEUE_CLOSE_MS = 3_000;

/**
 * Lets the heap grow to three times its size between two full collections. The bytes of bodies count against the limit
 * of the heap. With the limit of the engine, 24 to 75 frames of 190 kB cause a full collection, which marks about 35 MB
 * of objects and finds almost none to free: about a fifth of the CPU time of a frame in the API. The process takes
 * about 25 MB more.
 */
setFlagsFromString('--heap-growing-percent=200');
const config = loadConfig();
const logger = createLogger({ level: config.logLevel, name: 'api' });
endOnFatal(logger);
const tracing = await startTracing(config, 'api', logger);

await assertDefaultModel(config);
const webhookSecret = await loadWebhookSecret(config);
const redis = connectRedis(redisUrlOf(config), { role: 'producer', logger });
const redisClock = await followRedisClock(redis, { logger });
const events = createEventReader(redis, { logger });
const queue = createJobProducer(redis);
const questioner = createQuestioner(redis, { logger });

const stores = await createStores(config, redis);
const search = createLiveSearch(
  { ...stores, changeLog: createChangeLog(redis) },
  { most: config.searchChanges, clock: systemClock, logger },
);

const app = await buildApp(
  {
    ...stores,
    apiKeys: createApiKeyStore(redis),
    search,
    queryVectors: createQueryVectors(questioner),
    questions: questioner,
    events,
    queue,
    idempotency: createIdempotencyRecords(redis),
    rates: createRateCounter(redis),
    linkKey: linkKey(webhookSecret),
    loginKey: loginKey(config, webhookSecret),
    evidenceKey: () => loadEvidenceKey(config),
    consoleFolder: fileURLToPath(new URL('../console/', import.meta.url)),
    documentsFolder: new URL('../documents/', import.meta.url),
    clock: systemClock,
    // Frames in a bucket need no disk.
    diskShortage: async () => (config.s3FrameBucket === null ? diskShortage(config.dataDir) : null),
  },
  config,
  logger,
);

closeOnSignals(
  [
    {
      name: 'http',
      close: () => app.close(),
      withinMs: HTTP_SHARE * config.shutdownMs,
      cut: () => app.server.closeAllConnections(),
    },
    { name: 'search', close: () => search.close() },
    { name: 'events', close: () => events.close() },
    { name: 'questions', close: () => questioner.close(), withinMs: QUEUE_CLOSE_MS },
    { name: 'queue', close: () => queue.close(), withinMs: QUEUE_CLOSE_MS },
    { name: 'clock', close: async () => redisClock.close() },
    { name: 'redis', close: async () => redis.disconnect() },
    { name: 'tracing', close: () => tracing.close() },
  ],
  { deadlineMs: config.shutdownMs, logger },
);

await app.listen({ host: config.host, port: config.port });
const { address, port } = app.server.address() as AddressInfo;
logger.info({ address, port, auth: config.auth, docs: `${httpAddress(config.host, port)}/docs` }, 'api ready');
process.send?.('ready');
search.start();
await createDeployment(redis, stores.blobs).announce();
