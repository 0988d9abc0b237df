/** `npm run up` and `npm run demo` as a user runs them. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { loadConfig } from '../../src/process/config.js';
import { eventually } from '../helpers/eventually.js';
import { changedPair } from '../helpers/scenes.js';
import {
  ask,
  ENVIRONMENT,
  finished,
  isAlive,
  newDataDir,
  post,
  type Service,
  spawnUp,
  startService,
} from '../helpers/service.js';

let dataDir: string;
beforeEach(() => {
  dataDir = newDataDir();
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

it('the demo captions the example pair, writes its heatmap, and ends with 0', async () => {
  const { ended, output } = spawnUp(dataDir, { args: ['--demo'] });
  expect(await ended).toEqual({ status: 0, signal: null });
  expect(output()).toMatch(/"[A-Z][a-z ]+\."\n {2}verdict (change|none|nuisance), confidence \d\.\d{2,}, \d+ ms/);
}, 180_000);

it('the demo with the default bundle finds the change in the example pair and draws it', async () => {
  const { modelsDir, defaultModel } = loadConfig({});
  const env = { MODELS_DIR: modelsDir, DEFAULT_MODEL: defaultModel };
  const { ended, output } = spawnUp(dataDir, { args: ['--demo'], env });
  expect(await ended).toEqual({ status: 0, signal: null });
  expect(output()).toMatch(/"[A-Z][a-z' -]+\."\n {2}verdict change, confidence (0\.[5-9]\d+|1(\.0+)?)/);
  const picture = await sharp(join(dataDir, 'example/after-heatmap.png')).metadata();
  expect(picture).toMatchObject({ width: 768, height: 576 });
}, 180_000);

describe('A service that is up', () => {
  const folder = newDataDir();
  let service: Service;
  beforeAll(async () => {
    service = await startService({ dataDir: folder });
  }, 180_000);
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('leaves the cores to the API, with all threads of the worker, also where Linux shares them among sessions', async () => {
    const { api, worker } = (await service.processes()) as { api: number; worker: number };
    expect(getPriority(api)).toBe(getPriority());
    expect(getPriority(worker)).toBe(Math.min(19, getPriority() + 5));
    if (process.platform !== 'linux') return;
    const threads = readdirSync(`/proc/${worker}/task`).map((thread) => getPriority(Number(thread)));
    expect(threads.length).toBeGreaterThan(5);
    expect(new Set(threads)).toEqual(new Set([getPriority(worker)]));
    // A kernel without such groups has no such file.
    if (!existsSync('/proc/self/autogroup')) return;
    expect(readFileSync(`/proc/${worker}/autogroup`, 'utf8')).toMatch(/ nice 5\n$/);
    expect(readFileSync(`/proc/${api}/autogroup`, 'utf8')).toMatch(/ nice 0\n$/);
  }, 30_000);

  it('is the only one on its folder: a second one ends with one sentence and advice', async () => {
    const second = spawnUp(folder);
    expect((await second.ended).status).toBe(1);
    expect(second.output()).toMatch(/is in use: scenedelta runs there as process \d+ at http:/);
    expect(second.output()).toContain('DATA_DIR=./data2');
  }, 60_000);

  it('closes everything by SIGTERM: status 0, no process left, nothing lost; only its owner may read the key', async () => {
    const pids = Object.values(await service.processes());
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual(pids);
    expect(service.output()).toContain(`${service.url}/docs`);
    const [, ofWorker = ''] = /\(of the worker: (http\S+)\)/.exec(service.output()) ?? [];
    expect(await (await fetch(ofWorker)).text()).toContain('scenedelta_model_info{model="bundle-tiny"');
    expect(statSync(join(folder, 'first-key')).mode & 0o777).toBe(0o600);
    const pair = await changedPair();
    const accepted = await Promise.all(
      Array.from({ length: 5 }, () => post(service, pair, { prefer: 'respond-async' })),
    );
    expect(await service.stop()).toEqual({ status: 0, signal: null });
    expect(pids.filter(isAlive)).toEqual([]);

    const key = readFileSync(join(folder, 'first-key'), 'utf8');
    const again = await startService({ dataDir: folder });
    expect(readFileSync(join(folder, 'first-key'), 'utf8')).toBe(key);
    for (const { body } of accepted) expect((await finished(again, body.id)).status).toBe('finished');
    expect(await again.stop()).toEqual({ status: 0, signal: null });
  }, 240_000);
});

it('killed, takes its processes with it, and comes up with its backlog, before which no example waits', async () => {
  const first = await startService({ dataDir });
  const pair = await changedPair();
  const { worker } = await first.processes();
  process.kill(worker, 'SIGSTOP');
  const accepted = [];
  for (let i = 0; i < 20; i++) accepted.push(await post(first, pair, { prefer: 'respond-async' }));
  const pids = Object.values(await first.processes());
  first.process.kill('SIGKILL');
  await first.ended;
  process.kill(worker, 'SIGCONT');
  await eventually(() => expect(pids.filter(isAlive)).toEqual([]), 30_000);
  const again = await startService({ dataDir });
  expect(again.output()).toContain('skipped: there are comparisons already');
  for (const { body } of accepted) expect((await finished(again, body.id)).status).toBe('finished');
  expect(await again.stop()).toEqual({ status: 0, signal: null });
}, 240_000);

it('started by npm, it ends with all its processes when npm is ended', async () => {
  const npm = spawn('npm', ['run', '--silent', 'up'], {
    env: { ...process.env, ...ENVIRONMENT, DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  let pids: number[] = [];
  await eventually(async () => {
    const { pid, processes } = await ask(dataDir);
    pids = [pid, ...Object.values(processes)];
    expect(pids).toHaveLength(4);
  }, 180_000);
  npm.kill('SIGKILL'); // as SIGTERM, but no npm forwards it
  await eventually(() => {
    expect(pids.filter(isAlive)).toEqual([]);
  }, 60_000);
}, 300_000);

describe('a failed start is one sentence with advice:', () => {
  it('a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    try {
      const { ended, output } = spawnUp(dataDir, { env: { PORT: String(port) } });
      expect((await ended).status).toBe(1);
      expect(output()).toContain(`Port ${port} on 127.0.0.1 is in use by another program`);
    } finally {
      other.close();
    }
  }, 30_000);

  it.each([
    ['an illegal setting', { PORT: 'eighty' }, /PORT="eighty": expected an integer/],
    ['no keys on an open address', { AUTH: 'off', HOST: '0.0.0.0' }, /AUTH=off.*loopback/],
    ['a bundle that is not there', { DEFAULT_MODEL: 'nowhere' }, /before it was ready:\n[^\n]*nowhere[^\n]*\n\(log: /],
    ['no redis-server and nobody to install it', { PATH: join(process.execPath, '..', 'nothing') }, /REDIS_URL/],
  ])(
    '%s',
    async (_what, env, message) => {
      const { ended, output } = spawnUp(dataDir, { env });
      expect((await ended).status).toBe(1);
      expect(output()).toMatch(message);
      expect(output()).not.toMatch(/\n +at /);
    },
    60_000,
  );

  it('a folder too deep for a socket', async () => {
    const deep = join(dataDir, 'd'.repeat(100));
    mkdirSync(deep);
    const { ended, output } = spawnUp(deep);
    expect((await ended).status).toBe(1);
    expect(output()).toMatch(/a unix socket takes at most 103\. Choose a shorter DATA_DIR/);
  }, 30_000);
});
