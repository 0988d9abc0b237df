/** The process of the MQTT publisher: settings, connections, the lock that keeps it the only one, and shutdown. */
import { randomUUID } from 'node:crypto';
import { loadConfig, redisUrlOf } from '../process/config.js';
import { createLogger } from '../process/logger.js';
import { serveMetrics } from '../process/metrics-server.js';
import { closeOnSignals, endOnFatal } from '../process/shutdown.js';
import { loadWebhookSecret } from '../secrets/webhook-secret.js';
import { createStores } from '../stores/create.js';
import { createMqttStore } from '../stores/delivery/mqtt.js';
import { connectRedis } from '../stores/redis/redis.js';
import { holdLease } from './lease.js';
import { createMqttMetrics } from './metrics.js';
import { brokerSettings } from './settings.js';
import { startPublisher } from './start.js';

const config = loadConfig();
const logger = createLogger({ level: config.logLevel, name: 'mqtt' });
endOnFatal(logger);
const settings = await brokerSettings(config);

const { onShutdown, haltIfClosing } = closeOnSignals([], { deadlineMs: config.shutdownMs, logger });

const redis = connectRedis(redisUrlOf(config), { role: 'producer', logger });
onShutdown('redis', async () => redis.disconnect());
const stores = createStores(config, redis);
onShutdown('s3', async () => stores.s3?.close());
const secret = await loadWebhookSecret(config);
const metrics = createMqttMetrics();
const metricsServer = await serveMetrics(metrics, { host: config.host, port: config.mqttMetricsPort });
onShutdown('metrics', () => metricsServer.close());
logger.info({ broker: settings.shownUrl, topic: config.mqttTopic }, 'publisher started');
// It waits for the broker, and for an earlier publisher, as long as it takes.
process.send?.('ready');

const lease = await holdLease(createMqttStore(redis), randomUUID(), {
  logger,
  onLost: () => {
    logger.fatal('another publisher has taken over, ending');
    process.exit(1);
  },
});
onShutdown('lease', () => lease.release());
await haltIfClosing();
const publisher = startPublisher({ config, settings, redis, stores, secret, metrics, logger });
onShutdown('publisher', () => publisher.close());
