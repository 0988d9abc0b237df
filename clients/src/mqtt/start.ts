/** Puts the parts of the publisher together, and starts its loops. */
import { systemClock } from '../clock.js';
import { followEvents } from '../events.js';
import { failureOf } from '../failure.js';
import type { Service } from '../service.js';
import { type BrokerOptions, createBroker } from './broker.js';
import { createCameraViews } from './camera-views.js';
import type { Log } from './log.js';
import { createPublisher, OFFLINE, receive, runPublisher, take } from './publisher.js';
import { createRetained } from './retained.js';
import type { BrokerSettings } from './settings.js';
import type { StateFile } from './state.js';
import { commandFilters, statusTopic } from './topics.js';

const POLL_MS = 5_000;

export interface StartOptions {
  /** @param stop ends its requests */
  readonly serviceWith: (stop: AbortSignal) => Service;
  /** address of the console for people, without a trailing slash */
  readonly baseUrl: string;
  readonly settings: BrokerSettings;
  readonly state: StateFile;
  /** MQTT_TOPIC */
  readonly base: string;
  /** MQTT_DISCOVERY_PREFIX */
  readonly prefix: string;
  /** most bytes of a picture; 0: none */
  readonly pictureLimit: number;
  readonly log: Log;
  /** ms between two readings of the cameras' settings */
  readonly pollMs?: number;
  readonly retries?: Pick<BrokerOptions, 'firstRetryMs' | 'longestRetryMs' | 'timeoutMs'>;
}

/**
 * @returns `ended`, which fails if the service refuses the key; and how to end: the broker gets 'offline', and no event
 *   is lost or repeated
 * @throws Failure if the service does not answer
 */
export async function startPublisher(options: StartOptions): Promise<{ ended: Promise<void>; close(): Promise<void> }> {
  const { serviceWith, settings, state, base, prefix, baseUrl, pictureLimit, log } = options;
  const shared = { log, clock: systemClock };
  const birthTopic = `${prefix}/status`;
  const offline = { topic: statusTopic(base), payload: OFFLINE, retain: true };
  const ending = new AbortController();
  const { signal } = ending;
  const service = serviceWith(signal);
  const version = await versionOf(service);

  const broker = createBroker({
    settings,
    will: offline,
    filters: [birthTopic, ...commandFilters(base)],
    onMessage: (topic, payload, retained) => receive(publisher, topic, payload, retained),
    log,
    ...options.retries,
  });
  const publisher = createPublisher({
    ...shared,
    service,
    broker,
    state,
    retained: createRetained({ ...shared, broker, state, naming: { base, prefix, baseUrl, version } }),
    views: createCameraViews({ ...shared, api: service.api, baseUrl }),
    baseUrl,
    base,
    birthTopic,
    pictureLimit,
    pollMs: options.pollMs ?? POLL_MS,
  });

  // A publisher that runs for the first time begins with the next event.
  const since = state.position() ?? `${systemClock()}-0`;
  state.pass(since);
  const takeEvents = async () => {
    let isReported = false;
    const onBreak = ({ message: reason }: Error) => {
      if (!isReported) log('events cannot be read, trying again', { reason });
      isReported = true;
    };
    for await (const received of followEvents(service, { since, signal, onBreak })) {
      isReported = false;
      await take(publisher, received, signal);
    }
  };
  const ended = Promise.all([runPublisher(publisher, signal), takeEvents()]).then(() => {});
  return {
    ended,
    async close() {
      ending.abort();
      await ended.catch(() => {});
      await state.save();
      await broker.publish(offline).catch(() => {});
      await broker.close();
    },
  };
}

async function versionOf({ base, request }: Service): Promise<string> {
  const response = await request('/', { headers: { accept: 'application/json' } });
  if (!response.ok) throw failureOf(response.status, `${base} answered ${response.status}`);
  return String(((await response.json()) as { version?: unknown }).version);
}
