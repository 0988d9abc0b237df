/**
 * `npm run test:flood [-- --short]`: floods each route that takes no key, and refused requests of other ones, with
 * requests that are sent without waiting for answers (pipelining), while /livez is asked on connections of its own.
 * The exit status is 1 if the API computed longer than its limit before it answered /livez, or used more memory than
 * its limit. If it computed too long the route is flooded again, at most twice: a busy host lengthens even the
 * time computed, and never shortens it.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { parse } from 'yaml';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT, runMain, say } from '../../scripts/lib/shell.mjs';
import { mb, report } from '../bench/lib/report.mjs';
import { residentBytes, startService } from '../bench/lib/service.mjs';

const CONNECTIONS = 50;
const PIPELINED = 300;
/** ms: time of a flood */
const LONG = { ms: 2_000 };
const SHORT = { ms: 600 };
/** The API may compute so long during one answer of /livez; other programs of the machine do not count. */
const LIMIT_MS = 200;
const MEMORY_LIMIT = 400 * 1024 * 1024;
const MEMORY_EVERY_MS = 50;
const MOST_FLOODS = 3;

const { values } = readOptions({ short: { type: 'boolean' }, write: { type: 'boolean' } });
const size = values.short ? SHORT : LONG;

await runMain(async () => {
  const service = await startService({
    worker: false,
    build: !process.env.BUILT,
    env: { AUTH: 'on', LOG_LEVEL: 'info' },
  });
  const rows = [];
  try {
    for (const [method, path] of [['GET', null], ...floodedRoutes()]) {
      const { slowestMs, computedMs, bytes, answers, floods } = await floodUntilQuick(service, { method, path });
      if (computedMs > LIMIT_MS || bytes > MEMORY_LIMIT) process.exitCode = 1;
      const name = path === null ? 'none' : `${method} ${path}`;
      say(
        name,
        `/livez ${slowestMs} ms at worst, ${computedMs} ms of them computed; ${mb(bytes)}, ${mb(answers)} of answers`,
      );
      rows.push([name, ...[slowestMs, computedMs].map(String), mb(bytes), String(floods)]);
    }
  } finally {
    await service.stop();
  }
  report(
    'test:flood',
    'Flood without a key',
    [
      [
        'flooded route',
        'slowest /livez (ms)',
        `computed by the API meanwhile (ms, at most ${LIMIT_MS})`,
        `memory of the API (at most ${mb(MEMORY_LIMIT)})`,
        'floods',
      ],
      ...rows,
    ],
    [`${CONNECTIONS} connections, each sends ${PIPELINED} requests at once and opens again when it is closed.`],
  );
});

/** @returns times of the last flood, the most memory of all, and their number */
async function floodUntilQuick(service, route) {
  for (let floods = 1, most = 0; ; floods++) {
    const result = await flood(service, route);
    most = Math.max(most, result.bytes);
    if (result.computedMs <= LIMIT_MS || floods === MOST_FLOODS) return { ...result, bytes: most, floods };
  }
}

/** @returns method and path of what the service answers without a key, and of refusals */
function floodedRoutes() {
  const { paths } = parse(readFileSync(join(ROOT, 'openapi/openapi.yaml'), 'utf8'));
  const isOpen = ({ security }) =>
    security !== undefined && (security.length === 0 || security.some((one) => Object.keys(one).length === 0));
  const described = Object.entries(paths).flatMap(([path, { get }]) => (get && isOpen(get) ? [['GET', path]] : []));
  const page = readFileSync(join(ROOT, 'dist/console/index.html'), 'utf8');
  const assets = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, path]) => ['GET', `/${path}`]);
  return [
    ...described,
    ...['/docs', '/docs/', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui-bundle.js'].map((path) => [
      'GET',
      path,
    ]),
    ...[['GET', '/review'], ...assets],
    // Refusals: an unknown address, no key, a wrong key in a signature, a method.
    ...[
      ['GET', '/nothing'],
      ['GET', '/v1/models'],
      ['POST', '/v1/comparisons'],
      ['DELETE', '/livez'],
    ],
    ['GET', '/v1/comparisons/cmp_01k9x3v5s8q2m7c4w6n1b0t9hz/frames/before?exp=1&sig=x'],
  ];
}

/** @param path null: nothing is flooded */
async function flood({ url, pid }, { method, path }) {
  const { hostname, port } = new URL(url);
  const requests =
    `${method} ${path} HTTP/1.1\r\nHost: h\r\n${method === 'GET' ? '' : 'Content-Length: 0\r\n'}\r\n`.repeat(PIPELINED);
  const probe = new Worker(new URL('./probe.mjs', import.meta.url), {
    workerData: { url: `${url}/livez`, pid: pid('api') },
  });
  await new Promise((ready) => probe.once('message', ready));
  let [answers, bytes, ended] = [0, 0, false];
  const sockets = new Set();
  const open = () => {
    if (ended) return;
    const socket = connect(Number(port), hostname, () => socket.write(requests));
    sockets.add(socket);
    socket.on('data', (data) => (answers += data.length));
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      open();
    });
  };
  if (path !== null) for (let i = 0; i < CONNECTIONS; i++) open();
  const until = Date.now() + size.ms;
  while (Date.now() < until) {
    bytes = Math.max(bytes, residentBytes(pid('api')));
    await pause(MEMORY_EVERY_MS);
  }
  // The answers may come after the requests: until then /livez is asked on.
  probe.postMessage('end');
  const waits = await new Promise((done) => probe.once('message', done));
  bytes = Math.max(bytes, residentBytes(pid('api')));
  ended = true;
  for (const socket of sockets) socket.destroy();
  return { ...waits, bytes, answers };
}
