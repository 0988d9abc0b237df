/**
 * `npm run bench -- accept [--seconds=8] [--rounds=2] [--clients=64] [--write]`: cost of accepting uploads of
 * 1080p JPEGs, and the latency of /livez meanwhile, beside a bare server that drops the same uploads. The servers take
 * turns, so that a busy machine disturbs all of them alike.
 */
import { fork } from 'node:child_process';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { Agent, request } from 'undici';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { WORKER_NICENESS } from '../../scripts/lib/supervise.mjs';
import { fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { cpuMs, numberOption, startService } from './lib/service.mjs';

const options = { seconds: 'string', rounds: 'string', clients: 'string', write: 'boolean' };
readOptions(Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])));
const seconds = numberOption('seconds', 8);
const rounds = numberOption('rounds', 2);
const clients = numberOption('clients', 64);
const PROBE_EVERY_MS = 20;
const FRAME_CLIENTS = 16;
/** Time before each measurement in s, in which Node compiles what is called often. */
const WARM_UP = 4;
/** Width of a 1080p frame that is decoded at a quarter. */
const QUARTER_WIDTH = 480;
const lib = (file) => join(ROOT, 'test/bench/lib', file);

/** Environment that makes a server answer on the socket with the figures of its event loop. */
const probed = (socket) => ({
  LOOP_PROBE: socket,
  NODE_OPTIONS: `--import ${pathToFileURL(lib('loop-probe.mjs'))}`,
});

let sockets = 0;
const newSocket = () => join(tmpdir(), `sd-probe-${process.pid}-${++sockets}.sock`);

async function figuresOf(socket) {
  const dispatcher = new Agent({ connect: { socketPath: socket } });
  const { body } = await request('http://probe/', { dispatcher });
  const figures = await body.json();
  await dispatcher.close();
  return figures;
}

async function bareServer() {
  const socket = newSocket();
  const child = fork(lib('bare-server.mjs'), { env: { ...process.env, ...probed(socket) } });
  const port = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (status) => reject(new Error(`the bare server ended with ${status}`)));
  });
  return { url: `http://127.0.0.1:${port}`, headers: {}, socket, stop: async () => void child.kill() };
}

async function service(given) {
  const socket = newSocket();
  const env = { AUTH: 'on', LOG_LEVEL: 'info', MAX_WAITING: '1000000', OWNER_SHARE: '100', RATE_LIMIT: '10000000' };
  const started = await startService({ ...given, env, apiEnv: probed(socket) });
  return { ...started, socket };
}

/** Reads /livez until `until` resolves. @returns the times of the answers in ms */
async function probe(url, until) {
  const dispatcher = new Agent({ connections: 1 });
  const took = [];
  let probing = true;
  const ended = until.finally(() => {
    probing = false;
  });
  while (probing) {
    const sent = performance.now();
    const { body } = await request(`${url}/livez`, { dispatcher });
    await body.dump();
    took.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  await ended;
  await dispatcher.close();
  return took;
}

/** Uploads for `seconds` and measures the server meanwhile. @param kind of uploaders.mjs */
async function load(server, kind, count, length = seconds) {
  const redis = server.pid?.('redis');
  const redisBefore = redis === undefined ? 0 : cpuMs(redis);
  await figuresOf(server.socket);
  const args = [server.url, kind, count, length, JSON.stringify(server.headers)].map(String);
  const child = fork(lib('uploaders.mjs'), args);
  const done = new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (status) => reject(new Error(`the uploaders ended with ${status}`)));
  });
  const livez = await probe(server.url, done);
  const [{ uploads, ms: took }, figures] = [await done, await figuresOf(server.socket)];
  return {
    livez,
    uploads,
    took,
    cpu: figures.cpu,
    thread: figures.thread,
    worst: figures.worst,
    loopMs: figures.ms * figures.utilization,
    redis: redis === undefined ? 0 : cpuMs(redis) - redisBefore,
  };
}

async function setUpCameras({ url, headers }) {
  for (let i = 0; i < FRAME_CLIENTS; i++) {
    const { statusCode, body } = await request(`${url}/v1/cameras/bench-${i}`, {
      method: 'PUT',
      body: '{}',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    if (statusCode !== 201) throw new Error(`expected 201, got ${statusCode}: ${await body.text()}`);
    await body.dump();
  }
}

/** CPU-ms of decoding one frame at a quarter, by sharp, which uses the reduced transforms of the JPEG decoder. */
async function decodingAlone() {
  sharp.concurrency(1);
  sharp.cache(false);
  const frames = (await fullHdPairs()).flatMap(({ before, after }) => [before, after]);
  const decode = (jpeg) => sharp(jpeg).resize(QUARTER_WIDTH).greyscale().raw().toBuffer();
  await Promise.all(frames.map(decode));
  const before = process.cpuUsage();
  for (let i = 0; i < 10; i++) for (const jpeg of frames) await decode(jpeg);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (10 * frames.length);
}

/** Waits of several rounds as one. */
function sum(measured) {
  const add = (pick) => measured.reduce((total, one) => total + pick(one), 0);
  const [uploads, took] = [add((one) => one.uploads), add((one) => one.took)];
  const worst = measured.map((one) => one.worst).sort((a, b) => b.ms - a.ms)[0];
  return {
    perSecond: uploads / (took / 1000),
    cpu: add((one) => one.cpu) / uploads,
    redis: add((one) => one.redis) / uploads,
    thread: add((one) => one.thread.ran) / uploads,
    busy: add((one) => one.loopMs) / took,
    starved: add((one) => one.thread.waited) / took,
    livez: measured.flatMap((one) => one.livez),
    worst,
  };
}

const cases = [
  { name: 'pairs: bare server', start: bareServer, kind: 'pair', count: clients },
  { name: 'pairs: API without worker', start: () => service({ worker: false }), kind: 'pair', count: clients },
  { name: 'pairs: worker of the same priority', start: () => service({ niceness: 0 }), kind: 'pair', count: clients },
  {
    name: `pairs: worker of niceness ${WORKER_NICENESS}, as up`,
    start: () => service({}),
    kind: 'pair',
    count: clients,
  },
  { name: 'camera frames: bare server', start: bareServer, kind: 'frame', count: FRAME_CLIENTS },
  {
    name: 'camera frames: API without worker',
    start: () => service({ worker: false }),
    kind: 'frame',
    count: FRAME_CLIENTS,
  },
  {
    name: 'camera frames as image bodies: API without worker',
    start: () => service({ worker: false }),
    kind: 'image',
    count: FRAME_CLIENTS,
  },
];
const measured = new Map(cases.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const { name, start, kind, count } of cases) {
    const server = await start();
    try {
      if (kind !== 'pair' && server.pid) await setUpCameras(server);
      await load(server, kind, count, WARM_UP);
      measured.get(name).push(await load(server, kind, count));
    } finally {
      await server.stop();
    }
    console.error(`round ${round + 1}: ${name}: ${measured.get(name).at(-1).uploads} uploads`);
  }
}
const quarter = await decodingAlone();
const sums = new Map([...measured].map(([name, all]) => [name, sum(all)]));
const p99 = (name) => percentile(sums.get(name).livez, 0.99);
const [bare, ...others] = cases.filter(({ kind }) => kind === 'pair').map(({ name }) => name);
const ratios = others.map((name) => `${(p99(name) / p99(bare)).toFixed(1)} (${name.replace('pairs: ', '')})`);
const rows = [...sums].map(([name, one]) => {
  return [
    name,
    one.perSecond.toFixed(0),
    `${one.cpu.toFixed(2)} (${one.thread.toFixed(2)}) + ${one.redis.toFixed(2)}`,
    `${(100 * one.busy).toFixed(0)} %, ${(100 * one.starved).toFixed(0)} %`,
    [0.5, 0.99, 1].map((share) => ms(percentile(one.livez, share))).join(' / '),
    `${ms(one.worst.ms)} = ${ms(one.worst.ran)} + ${ms(one.worst.waited)}`,
  ];
});
report(
  'accept',
  'Acceptance of uploads, and the event loop of the API',
  [
    [
      'uploads of 1080p JPEGs',
      'per second',
      'CPU-ms each: API (main thread) + Redis',
      'loop busy, waiting for a core',
      '/livez p50 / p99 / max, ms',
      'longest stall, ms: ran + waited for a core',
    ],
    ...rows,
  ],
  [
    `${clients} clients post pairs and ${FRAME_CLIENTS} post frames of a camera each, all with respond-async, as fast ` +
      `as they are answered; ${rounds} rounds of ${seconds} s in turn. Clients, Redis and worker share the ` +
      `${availableParallelism()} cores.`,
    `Decoding one of the frames at a quarter takes ${quarter.toFixed(1)} CPU-ms in the same run.`,
    'The bare server is Fastify with the same form parser; it reads the files and drops them. The p99 of /livez ' +
      `while pairs are posted, divided by that of the bare server: ${ratios.join(', ')}.`,
  ],
);
