/** The API on a real Redis and a real folder, for behaviour that fakes do not have. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { buildApp } from '../../src/api/app.js';
import type { Api, ApiDependencies } from '../../src/api/dependencies.js';
import { createIdempotencyRecords } from '../../src/api/intake/idempotency.js';
import { createRateCounter } from '../../src/api/rate-counter.js';
import { createLiveSearch } from '../../src/api/search/live-index.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { createJobProducer, type JobProducer } from '../../src/jobs/producer.js';
import { QUEUE_PREFIX, QUEUES } from '../../src/jobs/queues.js';
import { loadConfig } from '../../src/process/config.js';
import { createLogger } from '../../src/process/logger.js';
import { createChangeLog } from '../../src/stores/changes/change-log.js';
import { createStores } from '../../src/stores/create.js';
import { createEventReader } from '../../src/stores/delivery/events.js';
import { createApiKeyStore } from '../../src/stores/redis/api-keys.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { finished } from '../helpers/comparisons.js';
import { DOCUMENTS } from '../helpers/documents.js';
import { eventually } from '../helpers/eventually.js';
import { checkedInject } from '../helpers/fake-app.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';
import { form, jpeg, post } from '../helpers/requests.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
let folder: string;
let app: Api;
let producer: JobProducer;
let deps: ApiDependencies;
let inject: ReturnType<typeof checkedInject>;
let body: ReturnType<typeof form>;
/** Reads the queue as a worker does. */
let live: Queue;

beforeAll(async () => {
  server = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'sd-api-'));
  redis = connectRedis(server.url, { role: 'producer', logger });
  await new Promise((resolve) => redis.once('ready', resolve));
  const config = loadConfig({ AUTH: 'off', DATA_DIR: folder, RATE_LIMIT: '2' });
  producer = createJobProducer(redis);
  const stores = await createStores(config, redis);
  deps = {
    ...stores,
    apiKeys: createApiKeyStore(redis),
    search: createLiveSearch({ ...stores, changeLog: createChangeLog(redis) }, { most: 10, clock: Date.now, logger }),
    queryVectors: async () => ({ missing: 'no_worker' }),
    questions: { ask: () => Promise.reject(new Error('not asked')), close: async () => {} },
    events: createEventReader(redis),
    queue: producer,
    idempotency: createIdempotencyRecords(redis),
    rates: createRateCounter(redis),
    linkKey: Buffer.alloc(32),
    loginKey: Buffer.alloc(32),
    evidenceKey: () => Promise.reject(new Error('not asked')),
    consoleFolder: null,
    documentsFolder: DOCUMENTS,
    clock: Date.now,
    diskShortage: async () => null,
  };
  live = new Queue(QUEUES.live, { connection: redis, prefix: QUEUE_PREFIX });
  live.on('error', () => {});
  app = await buildApp(deps, config, logger);
  await app.ready();
  inject = checkedInject(app);
  body = form({ before: await jpeg(10), after: await jpeg(200), camera: 'gate' });
});
afterAll(async () => {
  await app.close();
  await deps.events.close();
  await producer.close();
  await live.close();
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const connected = async (wanted: boolean) => {
  while ((redis.status === 'ready') !== wanted) await new Promise((resolve) => setTimeout(resolve, 10));
};

it('counts the requests of a key per window, and drops the count after it', async () => {
  const counts = [];
  for (let i = 0; i < 3; i++) counts.push(await deps.rates.count('key_a', 7, 60));
  expect(counts).toEqual([1, 2, 3]);
  expect([await deps.rates.count('key_b', 7, 60), await deps.rates.count('key_a', 8, 60)]).toEqual([1, 1]);
  expect(await redis.ttl(KEYS.rate('key_a', 7))).toBeGreaterThan(60);
});

describe('On a real Redis', () => {
  it('queues one job per comparison under its id, with ids only', async () => {
    const { id } = (await inject(post(body))).json();
    const job = await live.getJob(id);
    expect(job?.data).toEqual({ v: 2, comparisonId: id, traceId: expect.any(String) });
    expect((await deps.queue.counts()).live.prioritized).toBe(1);
  });

  it('answers waiting requests when a worker saves the result', async () => {
    const waited = form({ before: await jpeg(10), after: await jpeg(200), camera: 'waited' });
    const answering = inject(post(waited, { prefer: 'wait=20' }));
    let ids: string[] = [];
    while (ids.length === 0) {
      const { items } = await deps.results.list({ camera: 'waited', limit: 1 });
      ids = items.map((comparison) => comparison.id);
    }
    const stored = await deps.results.get(ids[0] as string);
    if (stored === undefined) throw new Error('not stored');
    await deps.results.update(stored.comparison.id, { comparison: finished(stored.comparison) });
    const answer = await answering;
    expect([answer.statusCode, answer.json().id]).toEqual([200, ids[0]]);
  });

  it('removes a cancelled job from the queue and notifies the workers', async () => {
    const { id } = (await inject(post(body))).json();
    const subscriber = redis.duplicate({ enableOfflineQueue: true });
    const heard = new Promise((resolve) => subscriber.on('message', (_channel, text) => resolve(text)));
    await subscriber.subscribe(KEYS.cancellations);
    expect((await inject({ method: 'DELETE', url: `/v1/comparisons/${id}` })).statusCode).toBe(204);
    expect(await heard).toBe(id);
    expect(await live.getJob(id)).toBeUndefined();
    subscriber.disconnect();
  });

  it('accepts one of several concurrent requests with one Idempotency-Key', async () => {
    const headers = { prefer: 'respond-async', 'idempotency-key': 'k 1' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => inject(post(body, headers))));
    const ids = new Set(answers.filter((a) => a.statusCode === 202).map((a) => a.json().id));
    expect(ids.size).toBe(1);
    const replay = await inject(post(body, headers));
    expect([replay.headers['idempotent-replayed'], ids.has(replay.json().id)]).toEqual(['true', true]);
    const other = form({ before: await jpeg(1), after: await jpeg(2) });
    expect((await inject(post(other, headers))).statusCode).toBe(422);
    expect(await redis.ttl(KEYS.idempotency('local', 'k 1'))).toBeGreaterThan(86_000);
  });

  it('accepts one of several concurrent batches with one Idempotency-Key, also if it was never confirmed', async () => {
    const send = (inputs: string[], key = 'batch 1') =>
      inject({ method: 'POST', url: '/v1/batches', headers: { 'idempotency-key': key }, payload: { inputs } });
    const film = ['https://cam.example/a.mp4'];
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(film)));
    const ids = new Set(answers.filter((a) => a.statusCode === 202).map((a) => a.json().id));
    expect(ids.size).toBe(1);
    const name = KEYS.idempotency('local', 'batch 1');
    const record = JSON.parse((await redis.get(name)) as string);
    await redis.set(name, JSON.stringify({ ...record, accepted: false }), 'EX', 3600);
    const replay = await send(film);
    expect([replay.headers['idempotent-replayed'], ids.has(replay.json().id)]).toEqual(['true', true]);
    expect((await send(['https://cam.example/b.mp4'])).statusCode).toBe(422);
    expect((await inject(post(body, { 'idempotency-key': 'batch 1' }))).statusCode).toBe(422);
  });

  describe('if a process dies, or Redis is lost, between reserving an Idempotency-Key and confirming it', () => {
    const request = (key: string, id: string) => ({ apiKeyId: 'key_a', key, fingerprint: 'f', id });
    const records = () => deps.idempotency;
    const age = (key: string, seconds: number) => redis.expire(KEYS.idempotency('key_a', key), 24 * 3600 - seconds);

    it('answers with the comparison if it was accepted, however late', async () => {
      const { id } = (await inject(post(body))).json();
      expect(await records().reserve(request('accepted', id))).toBeUndefined();
      for (const seconds of [1, 61, 23 * 3600]) {
        await age('accepted', seconds);
        expect(await records().reserve(request('accepted', 'cmp_b'))).toEqual({ id });
      }
    });

    it('is in flight for a minute if there is no comparison; then one of many requests takes its place', async () => {
      await records().reserve(request('died', 'cmp_a'));
      await expect(records().reserve(request('died', 'cmp_b'))).rejects.toMatchObject({
        code: 'idempotency-in-flight',
      });
      await age('died', 61);
      const tries = await Promise.allSettled(
        ['cmp_c', 'cmp_d', 'cmp_e'].map((id) => records().reserve(request('died', id))),
      );
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('is in flight no longer if the clock of Redis was a day ahead when the key was reserved', async () => {
      await records().reserve(request('ahead', 'cmp_a'));
      await age('ahead', -20 * 3600);
      const again = () => records().reserve(request('ahead', 'cmp_b'));
      await expect(again()).rejects.toMatchObject({ code: 'idempotency-in-flight' });
      expect(await redis.ttl(KEYS.idempotency('key_a', 'ahead'))).toBeLessThanOrEqual(24 * 3600);
      await age('ahead', 61);
      expect(await again()).toBeUndefined();
    });

    it('leaves the key to the request that took it over', async () => {
      const [late, now] = [request('taken', 'cmp_a'), request('taken', 'cmp_b')];
      await records().reserve(late);
      await age('taken', 61);
      await records().reserve(now);
      await records().release(late);
      await records().confirm(late);
      await expect(records().reserve(late)).rejects.toMatchObject({ code: 'idempotency-in-flight' });
      await records().confirm(now);
      expect(await records().reserve(late)).toEqual({ id: 'cmp_b' });
      await records().release(now);
      expect(await records().reserve(late)).toEqual({ id: 'cmp_b' });
    });

    it('is free as soon as Redis takes writes again, if it refused the comparison and the release of the key', async () => {
      const operator = new Redis(server.socket);
      const { create } = deps.results;
      deps.results.create = async (stored) => {
        // READONLY, as of a primary that became a replica while it accepted.
        await operator.replicaof('127.0.0.1', '1');
        return create(stored);
      };
      const send = () => inject(post(body, { prefer: 'respond-async', 'idempotency-key': 'refused' }));
      expect((await send()).statusCode).toBe(503);
      deps.results.create = create;
      await operator.replicaof('NO', 'ONE');
      await eventually(async () => expect((await send()).statusCode).toBe(202), 30_000);
      operator.disconnect();
    });

    it('is free a second later if the answer to the reservation is lost', async () => {
      const { reserve } = deps.idempotency;
      deps.idempotency.reserve = async (reservation) => {
        deps.idempotency.reserve = reserve;
        await reserve(reservation);
        expect(await reserve(reservation)).toBeUndefined();
        throw new ScenedeltaError('queue-unavailable', 'the primary was killed');
      };
      const send = () => inject(post(body, { prefer: 'respond-async', 'idempotency-key': 'lost' }));
      expect((await send()).statusCode).toBe(503);
      expect((await send()).statusCode).toBe(409);
      await eventually(async () => expect((await send()).statusCode).toBe(202), 30_000);
    });

    it('keeps the key of a comparison that could not be erased', async () => {
      const { id } = (await inject(post(body))).json();
      await records().reserve(request('kept', id));
      await records().release(request('kept', id));
      expect(await records().reserve(request('kept', 'cmp_b'))).toEqual({ id });
    });
  });

  it('counts requests over all processes, and the counters expire', async () => {
    const counts = [];
    for (let i = 0; i < 3; i++) counts.push(await createRateCounter(redis).count('key_a', 5, 60));
    expect(counts).toEqual([1, 2, 3]);
    expect(await redis.ttl(KEYS.rate('key_a', 5))).toBeGreaterThan(60);
  });

  it('serves reads while Redis is full, and answers 503 to other requests', async () => {
    const keyed = await buildApp(deps, loadConfig({ DATA_DIR: folder, RATE_LIMIT: '100' }), logger);
    const { key, secret } = await deps.apiKeys.create({
      name: 'reader',
      scopes: ['compare'],
      cameras: ['*'],
    });
    const headers = { 'x-api-key': secret, prefer: 'respond-async' };
    const { id } = (await keyed.inject(post(body, headers))).json();
    const url = `/v1/comparisons/${id}`;
    await redis.config('SET', 'maxmemory', '1');
    const codes = {
      read: (await keyed.inject({ url, headers })).statusCode,
      list: (await keyed.inject({ url: '/v1/comparisons', headers })).statusCode,
      accept: (await keyed.inject(post(body, headers))).statusCode,
      erase: (await keyed.inject({ method: 'DELETE', url, headers })).statusCode,
    };
    await redis.config('SET', 'maxmemory', '0');
    await deps.apiKeys.revoke(key.id);
    await keyed.close();
    expect(codes).toEqual({ read: 200, list: 200, accept: 503, erase: 503 });
  });

  it('answers 503 while Redis is away, and accepts again when it is back', async () => {
    await server.kill9();
    await connected(false);
    const answer = await inject(post(body));
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([503, 'queue-unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    for (const [url, status] of [
      ['/v1/comparisons', 503],
      ['/readyz', 503],
      ['/internal/scale', 503],
      ['/livez', 200],
      ['/metrics', 200],
    ] as const) {
      expect([url, (await inject({ url })).statusCode]).toEqual([url, status]);
    }
    await server.restart();
    await connected(true);
    expect((await inject(post(body))).statusCode).toBe(202);
  });
});
