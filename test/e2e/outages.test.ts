/** The API while a dependency is unavailable: it reports the outage, serves the rest, and recovers by itself. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/free-port.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';
import { changedPair } from '../helpers/scenes.js';
import { get, isAlive, newDataDir, post, startService } from '../helpers/service.js';

describe('Redis', () => {
  let redis: TestRedis;
  let api: ChildProcess;
  let dataDir: string;
  let service: { url: string; headers: { authorization: string } };
  let pair: { before: Buffer; after: Buffer };

  beforeAll(async () => {
    pair = await changedPair();
    dataDir = newDataDir();
    redis = await startRedis();
    await redis.kill9();
    const port = await freePort();
    service = { url: `http://127.0.0.1:${port}`, headers: { authorization: '' } };
    api = spawn(process.execPath, ['dist/api/main.js'], {
      env: {
        ...process.env,
        PORT: String(port),
        DATA_DIR: dataDir,
        REDIS_URL: redis.url,
        AUTH: 'off',
        LOG_LEVEL: 'silent',
      },
      stdio: 'ignore',
    });
    await eventually(async () => expect((await get(service, '/livez')).status).toBe(200), 20_000);
  }, 40_000);
  afterAll(async () => {
    api.kill('SIGTERM');
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('unavailable at the start: alive but not ready; a POST is refused at once with Retry-After', async () => {
    expect((await get(service, '/readyz')).status).toBe(503);
    const { status, headers, body } = await post(service, pair, { prefer: 'respond-async' });
    expect(status).toBe(503);
    expect(body.type).toBe('https://scenedelta.dev/errors/queue-unavailable');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('available later: the same process accepts', async () => {
    await redis.restart();
    await eventually(async () => {
      expect((await post(service, pair, { prefer: 'respond-async' })).status).toBe(202);
    });
  });

  it('lost and back again: accepted comparisons are still there', async () => {
    const { body } = await post(service, pair, { prefer: 'respond-async' });
    await redis.kill9();
    expect((await post(service, pair, { prefer: 'respond-async' })).status).toBe(503);
    expect((await get(service, '/livez')).status).toBe(200);
    await redis.restart();
    await eventually(async () => {
      expect((await get(service, `/v1/comparisons/${body.id}`)).body.status).toBe('queued');
    });
  });

  it('available: the API ends with 0 on SIGTERM, although clients watch, wait and keep connections', async () => {
    const watching = await fetch(`${service.url}/v1/events`);
    const waiting = post(service, { ...pair, camera: 'waits' }, { prefer: 'wait=30' });
    await eventually(async () =>
      expect((await get(service, '/v1/comparisons?camera=waits')).body.items).toHaveLength(1),
    );
    const ended = new Promise((done) => api.once('exit', (status, signal) => done({ status, signal })));
    api.kill('SIGTERM');
    expect(await ended).toEqual({ status: 0, signal: null });
    expect(isAlive(api.pid ?? 0)).toBe(false);
    expect((await waiting).status).toBe(202);
    expect(await watching.text()).toMatch(/^retry: /);
  });
});

describe('SIGTERM while Redis is unavailable', () => {
  // A worker that cannot hand its jobs back ends at the deadline with 1; the API holds none. Neither is killed.
  it.each([
    ['api', [0]],
    ['workers', [0, 1]],
  ])(
    'ends %s by itself, by SHUTDOWN_MS at the latest, with %j',
    async (part, allowed) => {
      const dataDir = newDataDir();
      const redis = await startRedis();
      const child = spawn(process.execPath, [`dist/${part}/main.js`], {
        env: {
          ...process.env,
          ...{ PORT: String(await freePort()), DATA_DIR: dataDir, REDIS_URL: redis.url, AUTH: 'off' },
          ...{ MODELS_DIR: 'test/fixtures', DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
          ...{ SHUTDOWN_MS: '3000', LOG_LEVEL: 'silent' },
        },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const ended = new Promise<[number | null, string | null]>((done) =>
        child.once('exit', (status, signal) => done([status, signal])),
      );
      try {
        await new Promise((done) => child.once('message', done));
        await redis.kill9();
        child.kill('SIGTERM');
        const [status, signal] = await ended;
        expect(allowed).toContain(status);
        expect(signal).toBeNull();
      } finally {
        child.kill('SIGKILL');
        await redis.stop();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    90_000,
  );
});

/** A private mount needs root, or a kernel that allows user namespaces. */
const NAMESPACE = [['-m'], ['-rm']].find(
  (flags) => spawnSync('unshare', [...flags, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0,
);
const whereMountable = NAMESPACE ? it : it.skip;

whereMountable(
  'a full disk: the frame is refused, what was accepted stays, and smaller frames still go in',
  async () => {
    const service = await startService({
      // Only the folder of frames and heatmaps is small, and only for this service; Redis has another disk.
      wrapper: (dataDir) => {
        mkdirSync(join(dataDir, 'blobs'), { recursive: true });
        const script = `mount -t tmpfs -o size=1m tmpfs "${dataDir}/blobs" && exec "$@"`;
        return ['unshare', ...(NAMESPACE ?? []), 'sh', '-c', script, 'sh'];
      },
    });
    try {
      const pair = await changedPair();
      const kept = await post(service, pair);
      expect(kept.status).toBe(200);
      // Bytes after the end of a JPEG are stored and ignored.
      const padded = (frame: Buffer) => Buffer.concat([frame, randomBytes(300_000)]);
      let refused: Awaited<ReturnType<typeof post>> | undefined;
      for (let i = 0; i < 5 && refused === undefined; i++) {
        const answer = await post(service, { before: padded(pair.before), after: padded(pair.after) });
        if (answer.status !== 200) refused = answer;
      }
      expect(refused?.status).toBe(503);
      expect(refused?.body.type).toBe('https://scenedelta.dev/errors/storage-unavailable');
      expect((await get(service, '/livez')).status).toBe(200);
      expect((await get(service, `/v1/comparisons/${kept.body.id}`)).body.status).toBe('finished');
      // The frames of the first pair are stored already.
      expect((await post(service, pair)).status).toBe(200);
    } finally {
      await service.stop();
    }
  },
  240_000,
);
