/**
 * A real MQTT broker (mosquitto) of the test's own, on a free port and in a temporary folder. Without mosquitto the
 * tests that use it are skipped (npm test installs it).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { findMosquitto } from '../../scripts/lib/test-servers.mjs';
import { freePort } from './free-port.js';

const program = findMosquitto();
const START_LIMIT_MS = 10_000;

/** describe, or describe.skip without mosquitto */
export const describeWithMosquitto = program === undefined ? describe.skip : describe;

export interface MosquittoOptions {
  /** absent: a client needs no login */
  readonly login?: { readonly username: string; readonly password: string };
  /** default: plain MQTT over TCP */
  readonly transport?: {
    readonly websockets?: boolean;
    readonly tls?: { readonly cert: string; readonly key: string };
  };
  /** further lines of its configuration */
  readonly lines?: readonly string[];
}

export type Mosquitto = Awaited<ReturnType<typeof startMosquitto>>;

/** @throws Error if it does not listen within 10 s */
export async function startMosquitto({ login, transport = {}, lines = [] }: MosquittoOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sd-mosquitto-'));
  const port = await freePort();
  const file = join(folder, 'mosquitto.conf');
  const passwords = join(folder, 'passwords');
  if (login !== undefined) {
    const made = spawnSync('mosquitto_passwd', ['-b', '-c', passwords, login.username, login.password]);
    if (made.status !== 0) throw new Error(`mosquitto_passwd failed: ${made.stderr}`);
  }
  const access = login === undefined ? ['allow_anonymous true'] : [`password_file ${passwords}`];
  // As root it would become another user, who may not read the folder.
  const user = process.getuid?.() === 0 ? ['user root'] : [];
  const { websockets = false, tls } = transport;
  const listener = [
    `listener ${port} 127.0.0.1`,
    ...(tls === undefined ? [] : [`certfile ${tls.cert}`, `keyfile ${tls.key}`]),
    // Debian's version does not start with a listener of WebSocket alone.
    ...(websockets ? ['protocol websockets', `listener ${await freePort()} 127.0.0.1`] : []),
  ];
  writeFileSync(file, [...listener, ...user, ...access, ...lines, ''].join('\n'));
  let server: ChildProcess | undefined;
  const stop = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server?.once('exit', resolve));
    server.kill('SIGKILL');
    await gone;
  };
  const start = async () => {
    let output = '';
    server = spawn(program ?? 'mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    server.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    const until = Date.now() + START_LIMIT_MS;
    while (!(await listens(port))) {
      if (Date.now() > until || server.exitCode !== null) throw new Error(`mosquitto does not start:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await start();
  return {
    url: `${websockets ? 'ws' : 'mqtt'}${tls === undefined ? '' : 's'}://127.0.0.1:${port}`,
    port,
    /** Ends the broker as a crash does. Without persistence it loses everything that it kept. */
    stop,
    start,
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Received {
  readonly topic: string;
  readonly payload: Buffer;
  /** it is what the broker kept, and not new */
  readonly retained: boolean;
  /** seconds until the broker removes it; undefined: never */
  readonly expiryS: number | undefined;
}

/** A client that receives everything, as Home Assistant would. @param ca PEM, of a broker with a certificate */
export async function subscribe(url: string, filter = '#', ca?: Buffer) {
  const received: Received[] = [];
  const secure = ca === undefined ? {} : { ca };
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 50, ...secure });
  client.on('error', () => {});
  client.on('message', (topic, payload, { retain, properties }) => {
    received.push({ topic, payload, retained: retain, expiryS: properties?.messageExpiryInterval });
  });
  await client.subscribeAsync(filter, { qos: 1 });
  const of = (topic: string) => received.filter((message) => message.topic === topic);
  return {
    received,
    of,
    /** @returns the last payload as text */
    last: (topic: string): string | undefined => of(topic).at(-1)?.payload.toString(),
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the JSON it reads
    json: (topic: string): any => JSON.parse(of(topic).at(-1)?.payload.toString() || 'null'),
    publish: (topic: string, payload: string, retain = false) =>
      client.publishAsync(topic, payload, { qos: 1, retain }),
    close: () => client.endAsync(true),
  };
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
