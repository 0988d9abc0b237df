/** Builds the publisher from its settings and connections, and starts its loops. */
import type { Redis } from 'ioredis';
import { HOUR_MS, systemClock } from '../base/clock.js';
import { createPictures } from '../frames/change-picture.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { linkKey, publicBaseUrl } from '../secrets/links.js';
import type { Stores } from '../stores/create.js';
import { createEventCursor } from '../stores/delivery/event-cursor.js';
import { createMqttStore } from '../stores/delivery/mqtt.js';
import { type BrokerOptions, createBroker } from './broker.js';
import { createCameraViews } from './camera-views.js';
import { runIntake } from './intake.js';
import type { MqttMetrics } from './metrics.js';
import { createPublisher, OFFLINE, receive, runPublisher } from './publisher.js';
import { createRetained } from './retained.js';
import type { BrokerSettings } from './settings.js';
import { commandFilter, statusTopic } from './topics.js';

const POLL_MS = 5_000;

export interface StartOptions {
  readonly config: Config;
  readonly settings: BrokerSettings;
  readonly redis: Redis;
  readonly stores: Pick<Stores, 'cameras' | 'changes' | 'visits' | 'results' | 'blobs' | 'workers'>;
  /** the secret of webhooks, of which the key of links is derived */
  readonly secret: string;
  readonly metrics: MqttMetrics;
  readonly logger: Logger;
  /** ms between two readings of the cameras' settings */
  readonly pollMs?: number;
  readonly retries?: Pick<BrokerOptions, 'firstRetryMs' | 'longestRetryMs' | 'timeoutMs'>;
}

/** @returns how to end: the broker gets 'offline', and no event is lost or repeated */
export function startPublisher(options: StartOptions): { close(): Promise<void> } {
  const { config, settings, redis, stores, metrics, logger } = options;
  const base = config.mqttTopic;
  const birthTopic = `${config.mqttDiscoveryPrefix}/status`;
  const baseUrl = publicBaseUrl(config);
  const store = createMqttStore(redis);
  const shared = { store, metrics, logger, clock: systemClock };
  const offline = { topic: statusTopic(base), payload: OFFLINE, retain: true };

  const broker = createBroker({
    settings,
    will: offline,
    filters: [birthTopic, commandFilter(base)],
    onMessage: (topic, payload, retained) => receive(publisher, topic, payload, retained),
    metrics,
    logger,
    ...options.retries,
  });
  const views = createCameraViews({ ...shared, ...stores, baseUrl });
  const publisher = createPublisher({
    ...shared,
    ...stores,
    broker,
    retained: createRetained({ ...shared, broker, naming: { base, prefix: config.mqttDiscoveryPrefix, baseUrl } }),
    views,
    pictureOf: createPictures({ ...stores, decodeLimits: config }),
    isReady: async () => (await stores.workers.list()).some(({ models }) => models.length > 0),
    links: {
      baseUrl,
      key: linkKey(options.secret),
      framesMs: config.frameRetentionHours * HOUR_MS,
      heatmapsMs: config.heatmapRetentionHours * HOUR_MS,
    },
    base,
    birthTopic,
    pictureLimit: config.mqttPictureLimit,
    pollMs: options.pollMs ?? POLL_MS,
  });

  const cursor = createEventCursor(redis);
  const ending = new AbortController();
  const loops = [
    runPublisher(publisher, ending.signal),
    runIntake({ ...shared, cursor, onOther: views.note, onTaken: publisher.pause.end }, ending.signal),
  ];
  return {
    async close() {
      ending.abort();
      cursor.close();
      await Promise.all(loops);
      await broker.publish(offline).catch(() => {});
      await broker.close();
    },
  };
}
