/** The connection to a real broker over TLS and over WebSocket, with an authority of the test's own. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Broker, createBroker } from '../../../clients/src/mqtt/broker.js';
import type { Log } from '../../../clients/src/mqtt/log.js';
import { brokerSettings } from '../../../clients/src/mqtt/settings.js';
import { type Authority, hasOpenssl, makeAuthority } from '../../helpers/certificates.js';
import { eventually } from '../../helpers/eventually.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../../helpers/mosquitto.js';

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

/** @param ca file; undefined: the authorities of Node */
const connect = async (url: string, ca: string | undefined) => {
  const lines: { msg: string; [name: string]: unknown }[] = [];
  const log: Log = (msg, values) => void lines.push({ msg, ...values });
  const commands: string[] = [];
  const login = { mqttUsername: LOGIN.username, mqttPassword: LOGIN.password };
  broker = createBroker({
    settings: await brokerSettings({ ...login, mqttUrl: url, mqttCa: ca, mqttTopic: 'sd' }),
    will: { topic: 'sd/status', payload: 'offline', retain: true },
    filters: ['sd/commands'],
    onMessage: (_topic, payload) => commands.push(payload.toString()),
    log,
    firstRetryMs: 20,
    longestRetryMs: 100,
    timeoutMs: 10_000,
  });
  return { broker, commands, lines };
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
    const { broker, commands, lines } = await connect(mosquitto.url, isSecure ? authority.ca : undefined);
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
          [server, undefined],
          [server, other.ca],
          [elsewhere, authority.ca],
        ] as const) {
          mosquitto = await startMosquitto({ login: LOGIN, transport: { websockets, tls } });
          const { broker, lines } = await connect(mosquitto.url, ca);
          await eventually(() =>
            expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/MQTT_CA/) })),
          );
          expect(broker.connection()).toBeUndefined();
          await broker.close();
          await mosquitto.close();
        }
      } finally {
        other.remove();
      }
    },
  );
});
