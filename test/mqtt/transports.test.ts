/** The connection to a real broker over TLS and over WebSocket, with an authority of the test's own. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Broker, createBroker } from '../../src/mqtt/broker.js';
import { createMqttMetrics } from '../../src/mqtt/metrics.js';
import { brokerSettings } from '../../src/mqtt/settings.js';
import { type Authority, hasOpenssl, makeAuthority } from '../helpers/certificates.js';
import { eventually } from '../helpers/eventually.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../helpers/mosquitto.js';
import { recordingLogger } from '../helpers/recording-logger.js';

// biome-ignore lint/suspicious/noConsole: a skipped test says so
if (!hasOpenssl) console.warn('openssl is not installed: the tests of brokers with certificates are skipped');
const describeWithOpenssl = hasOpenssl ? describeWithMosquitto : describe.skip;

const LOGIN = { username: 'watchman', password: 'geheim' };
let authority: Authority;
let server: { cert: string; key: string };
let broker: Broker | undefined;
let mosquitto: Mosquitto | undefined;
let home: Awaited<ReturnType<typeof subscribe>> | undefined;
beforeAll(() => {
  if (!hasOpenssl) return;
  authority = makeAuthority();
  server = authority.certify('IP:127.0.0.1');
});
afterEach(async () => {
  await home?.close();
  await broker?.close();
  await mosquitto?.close();
  home = undefined;
  broker = undefined;
  mosquitto = undefined;
});
afterAll(() => authority?.remove());

/** @param ca file; null: the authorities of Node */
const connect = async (url: string, ca: string | null) => {
  const { logger, lines } = recordingLogger();
  const metrics = createMqttMetrics();
  const commands: string[] = [];
  const login = { mqttUsername: LOGIN.username, mqttPassword: LOGIN.password };
  broker = createBroker({
    settings: await brokerSettings({ ...login, mqttUrl: url, mqttCa: ca, mqttTopic: 'sd' }),
    will: { topic: 'sd/status', payload: 'offline', retain: true },
    filters: ['sd/commands'],
    onMessage: (_topic, payload) => commands.push(payload.toString()),
    metrics,
    logger,
    firstRetryMs: 20,
    longestRetryMs: 100,
    timeoutMs: 10_000,
  });
  return { broker, commands, lines, metrics };
};

describeWithOpenssl('a broker', () => {
  it.each([
    ['TLS', 'mqtts', { websockets: false, isSecure: true }],
    ['WebSocket', 'ws', { websockets: true, isSecure: false }],
    ['WebSocket over TLS', 'wss', { websockets: true, isSecure: true }],
  ])('over %s gets messages, sends commands, and is reached again after a restart', async (_, scheme, transport) => {
    const { websockets, isSecure } = transport;
    mosquitto = await startMosquitto({ login: LOGIN, transport: { websockets, ...(isSecure ? { tls: server } : {}) } });
    expect(new URL(mosquitto.url).protocol).toBe(`${scheme}:`);
    const { broker, commands, lines } = await connect(mosquitto.url, isSecure ? authority.ca : null);
    await eventually(() => expect(broker.connection()).toBeDefined());
    const url = mosquitto.url.replace('//', `//${LOGIN.username}:${LOGIN.password}@`);
    home = await subscribe(url, '#', isSecure ? readFileSync(authority.ca) : undefined);
    const payload = Buffer.alloc(100_000, 'x');
    await broker.publish({ topic: 'sd/picture', payload, retain: true });
    await eventually(() => expect(home?.of('sd/picture')[0]?.payload.equals(payload)).toBe(true));
    await home.publish('sd/commands', 'ON');
    await eventually(() => expect(commands).toEqual(['ON']));
    await mosquitto.stop();
    await eventually(() => expect(broker.connection()).toBeUndefined());
    await mosquitto.start();
    await eventually(() => expect(broker.connection()).toBeDefined());
    expect(JSON.stringify(lines)).not.toMatch(/watchman|geheim/);
  });

  it.each([
    ['TLS', false],
    ['WebSocket over TLS', true],
  ])(
    'over %s with a certificate that is not trusted gets no login, and the log names MQTT_CA',
    async (_, websockets) => {
      const elsewhere = authority.certify('DNS:broker.example');
      const other = makeAuthority();
      try {
        for (const [tls, ca] of [
          [server, null],
          [server, other.ca],
          [elsewhere, authority.ca],
        ] as const) {
          mosquitto = await startMosquitto({ login: LOGIN, transport: { websockets, tls } });
          const { broker, lines, metrics } = await connect(mosquitto.url, ca);
          await eventually(() =>
            expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/MQTT_CA/) })),
          );
          expect(broker.connection()).toBeUndefined();
          expect(await metrics.registry.metrics()).toMatch(/connection_failures_total\{reason="tls"\} [1-9]/);
          await broker.close();
          await mosquitto.close();
        }
      } finally {
        other.remove();
      }
    },
  );
});
