/**
 * Connection to the MQTT broker: connects again without end, and confirms or refuses each message. The library's own
 * reconnection is not used: it would keep unconfirmed messages in memory, and would repeat a message that the broker
 * answers by closing the connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { systemClock } from '../clock.js';
import type { Log } from './log.js';
import type { BrokerSettings } from './settings.js';

export interface Message {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly retain: boolean;
  /** seconds after which the broker removes it; brokers of MQTT 3.1.1 do not. Absent: never */
  readonly expiryS?: number;
}

/** There is no connection, or it was lost before the broker confirmed the message. */
export class Disconnected extends Error {}
/** The broker refuses this message and will refuse it again. */
export class MessageRefused extends Error {}

export interface BrokerOptions {
  readonly settings: BrokerSettings;
  readonly will: Message;
  /** topic filters whose messages go to `onMessage` */
  readonly filters: readonly string[];
  readonly onMessage: (topic: string, payload: Buffer, retained: boolean) => void;
  readonly log: Log;
  /** ms before the second attempt; doubled with each further one, up to `longestRetryMs` */
  readonly firstRetryMs?: number;
  readonly longestRetryMs?: number;
  /** ms that the broker may take to accept a connection or to confirm a message */
  readonly timeoutMs?: number;
}

export interface Connection {
  /** whether the broker has lost what it kept for this client, and so perhaps its retained messages */
  readonly isNew: boolean;
  /** most bytes of a packet; Infinity: not stated */
  readonly packetLimit: number;
}

export type Broker = ReturnType<typeof createBroker>;

const KEEPALIVE_S = 30;
/** How long the broker keeps subscriptions and commands of a publisher that is away. */
const SESSION_S = 86_400;
const REPEAT_LOG_MS = 60_000;

const LOGIN_CODES = new Set([4, 5, 134, 135]);
/** Codes of CONNACK in MQTT 3.1.1 and 5: the broker does not know this version. */
const VERSION_CODES = new Set([1, 132]);
const TAKEN_OVER = 142;
/** Codes of PUBACK: topic name invalid, packet too large, payload format invalid. Other refusals may end. */
const PERMANENT_CODES = new Set([144, 149, 153]);
/** Some brokers neither confirm nor refuse a message that is too large for them, or close the connection. */
const LARGE_BYTES = 4_096;
const LARGE_TRIES = 2;
const CLOSE_MS = 1_000;

export function createBroker(options: BrokerOptions) {
  const { settings, log, firstRetryMs = 1_000, longestRetryMs = 60_000, timeoutMs = 30_000 } = options;
  let client: MqttClient | undefined;
  let connection: Connection | undefined;
  let version: 4 | 5 = 5;
  let attempt = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let logged = { reason: '', at: 0 };
  let listeners: (() => void)[] = [];
  /** the last large message that was not confirmed */
  let lost = { topic: '', tries: 0 };
  /** most bytes, found by trying */
  let foundLimit = Number.POSITIVE_INFINITY;

  const wake = () => {
    const waiting = listeners;
    listeners = [];
    for (const listener of waiting) listener();
  };

  const retry = (reason: string, detail: string) => {
    connection = undefined;
    if (closed) return;
    const delay = Math.min(firstRetryMs * 2 ** Math.min(attempt++, 16), longestRetryMs) * (0.8 + 0.4 * Math.random());
    // One line per outage and minute, and one for each new reason.
    if (logged.reason !== detail || systemClock() - logged.at > REPEAT_LOG_MS) {
      logged = { reason: detail, at: systemClock() };
      log(ADVICE[reason] ?? reason, { broker: settings.shownUrl, reason: detail });
    }
    timer = setTimeout(connect, delay);
  };

  function connect(): void {
    const current = mqtt.connect(settings.url, clientOptions(settings, options.will, version, timeoutMs));
    client = current;
    let failure: { reason: string; detail: string } | undefined;
    const fail = (error: Error & { code?: number | string }) => {
      failure ??= { reason: reasonOf(error), detail: error.message || String(error.code) };
    };
    current.on('error', fail);
    current.on('disconnect', ({ reasonCode }) => {
      const replaced = reasonCode === TAKEN_OVER;
      failure ??= { reason: replaced ? 'replaced' : 'lost', detail: `the broker closed it with code ${reasonCode}` };
    });
    current.on('message', (topic, payload, { retain }) => options.onMessage(topic, payload, retain));
    current.on('connect', async ({ sessionPresent }) => {
      try {
        if (options.filters.length > 0) await current.subscribeAsync([...options.filters], { qos: 1 });
      } catch (thrown) {
        log(SUBSCRIPTION_REFUSED, { broker: settings.shownUrl, reason: (thrown as Error).message });
      }
      if (client !== current || !current.connected) return;
      attempt = 0;
      logged = { reason: '', at: 0 };
      connection = {
        isNew: !sessionPresent,
        packetLimit: Math.min(current.serverProperties?.maximumPacketSize ?? Number.POSITIVE_INFINITY, foundLimit),
      };
      log('connected to the broker', { broker: settings.shownUrl, mqtt: version === 5 ? '5.0' : '3.1.1' });
      wake();
    });
    current.once('close', () => {
      if (client !== current) return;
      current.end(true);
      client = undefined;
      const known = failure as { reason: string; detail: string } | undefined;
      if (version === 5 && known?.reason === 'version') {
        version = 4;
        log('the broker does not know MQTT 5, trying 3.1.1', { broker: settings.shownUrl });
        connect();
      } else {
        retry(known?.reason ?? (connection === undefined ? 'unreachable' : 'lost'), known?.detail ?? 'it was closed');
      }
    });
  }

  const noteLost = (topic: string, bytes: number): void => {
    if (bytes < LARGE_BYTES) return;
    lost = { topic, tries: lost.topic === topic ? lost.tries + 1 : 1 };
    if (lost.tries < LARGE_TRIES) return;
    foundLimit = bytes - 1;
    lost = { topic: '', tries: 0 };
    log('the broker does not take messages of this size', { broker: settings.shownUrl, topic, bytes });
  };

  connect();
  return {
    /** undefined while there is none */
    connection: () => connection,
    /** Resolves with the next connection, or after `limitMs`. */
    connected: (limitMs: number): Promise<void> =>
      new Promise((resolve) => {
        if (connection !== undefined || closed) return resolve();
        const late = setTimeout(resolve, limitMs);
        listeners.push(() => {
          clearTimeout(late);
          resolve();
        });
      }),
    /**
     * Resolves when the broker has confirmed the message.
     * @throws Disconnected, or MessageRefused
     */
    async publish({ topic, payload, retain, expiryS }: Message): Promise<void> {
      const current = client;
      if (current === undefined || connection === undefined) throw new Disconnected('no connection to the broker');
      // Topic, properties and header; a larger packet would end the connection.
      const bytes = Buffer.byteLength(payload) + Buffer.byteLength(topic) + 16;
      if (bytes > connection.packetLimit) {
        throw new MessageRefused(`${bytes} bytes, and the broker takes at most ${connection.packetLimit}`);
      }
      let timeout: NodeJS.Timeout | undefined;
      let onClose: (() => void) | undefined;
      const losing = new Promise<never>((_resolve, reject) => {
        onClose = () => reject(new Disconnected('the connection was lost'));
        current.once('close', onClose);
        timeout = setTimeout(() => {
          reject(new Disconnected(`no confirmation within ${timeoutMs} ms`));
          current.stream.destroy();
        }, timeoutMs);
      });
      try {
        const properties =
          expiryS === undefined || version === 4 ? {} : { properties: { messageExpiryInterval: expiryS } };
        await Promise.race([current.publishAsync(topic, payload, { qos: 1, retain, ...properties }), losing]);
        if (lost.topic === topic) lost = { topic: '', tries: 0 };
      } catch (thrown) {
        if (thrown instanceof Disconnected) {
          noteLost(topic, bytes);
          throw thrown;
        }
        const { code, message } = thrown as Error & { code?: number };
        if (code !== undefined && PERMANENT_CODES.has(code)) throw new MessageRefused(message);
        throw new Disconnected(message);
      } finally {
        clearTimeout(timeout);
        if (onClose !== undefined) current.off('close', onClose);
      }
    },
    /** Ends the connection in order, so that the broker does not send the last will. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      wake();
      const current = client;
      client = undefined;
      connection = undefined;
      if (current === undefined) return;
      if (current.connected) {
        const late = new AbortController();
        await Promise.race([current.endAsync(), sleep(CLOSE_MS, undefined, { signal: late.signal }).catch(() => {})]);
        late.abort();
      }
      current.end(true);
    },
  };
}

const SUBSCRIPTION_REFUSED =
  'the broker refused the subscriptions: switches, and announcements after a start of Home Assistant, will not work';
const ADVICE: Readonly<Record<string, string>> = {
  login: 'the broker refused user name and password, expected those of MQTT_USERNAME and MQTT_PASSWORD; trying again',
  tls: "the broker's certificate was refused, expected one that MQTT_CA signs; trying again",
  replaced: 'another client connected with the same id: two publishers at one broker need a different MQTT_TOPIC',
  unreachable: 'the broker cannot be reached, trying again',
  version: 'the broker knows neither MQTT 5 nor 3.1.1',
  lost: 'the connection to the broker was lost, trying again',
};

function reasonOf({ code, message }: Error & { code?: number | string }): string {
  if (typeof code === 'number') {
    if (VERSION_CODES.has(code)) return 'version';
    return LOGIN_CODES.has(code) ? 'login' : 'unreachable';
  }
  return /certificate|self.signed|CERT_|altname|SSL|TLS/i.test(`${code} ${message}`) ? 'tls' : 'unreachable';
}

function clientOptions(
  { clientId, username, password, ca }: BrokerSettings,
  will: Message,
  version: 4 | 5,
  connectTimeout: number,
): IClientOptions {
  return {
    clientId,
    protocolVersion: version,
    // The broker keeps the subscriptions, and commands that come while this process restarts.
    clean: false,
    ...(version === 5 ? { properties: { sessionExpiryInterval: SESSION_S } } : {}),
    keepalive: KEEPALIVE_S,
    connectTimeout,
    reconnectPeriod: 0,
    resubscribe: false,
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: will.retain },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ca }),
  };
}
