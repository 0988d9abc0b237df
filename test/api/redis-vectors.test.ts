/** Searches whose vectors are in vector sets of a real Redis 8, beside the same searches with vectors in memory. */
import { jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLiveSearch, type LiveSearch } from '../../src/api/search/live-index.js';
import { createRedisVectors } from '../../src/api/search/redis-vectors.js';
import { checkSettings } from '../../src/cameras/settings.js';
import { loadConfig } from '../../src/config.js';
import { createLogger } from '../../src/logger.js';
import { uniformNumbers } from '../../src/random.js';
import type { FoundChange } from '../../src/schemas/change.js';
import type { QueryVector } from '../../src/search/change-vectors.js';
import type { SearchFilter } from '../../src/search/scope.js';
import { createCameraStore } from '../../src/stores/cameras.js';
import { createChangeLog } from '../../src/stores/change-log.js';
import { type ChangeStore, createChangeStore } from '../../src/stores/changes.js';
import { createStores } from '../../src/stores/create.js';
import { KEYS } from '../../src/stores/keys.js';
import { connectRedis } from '../../src/stores/redis.js';
import type { Turn } from '../../src/stores/turns.js';
import { assertVectorSets, createVectorSets, type VectorSets } from '../../src/stores/vector-sets.js';
import { foundChange, NOON, opening, saveTurnChanges } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { describeWithVectorSets, REDIS_8, startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
const [NEW, OLD] = ['b'.repeat(64), 'a'.repeat(64)] as const;
const DIMENSIONS = 32;
const HOUR = 3_600_000;
/** Few enough that the sets are asked. */
const ALL_COMPARED = 20;

describeWithVectorSets('Search vectors in Redis', () => {
  let server: TestRedis;
  let redis: Redis;
  let changes: ChangeStore;
  let sets: VectorSets;
  let started: LiveSearch[] = [];
  const next = uniformNumbers(11);

  beforeAll(async () => {
    server = await startRedis({ command: REDIS_8 });
    redis = connectRedis(server.url, { role: 'consumer', logger });
    changes = createChangeStore(redis, { retentionMs: HOUR });
    sets = createVectorSets(redis);
  });
  beforeEach(async () => {
    await redis.flushall();
    await redis.config('RESETSTAT');
  });
  afterEach(async () => {
    for (const search of started) await search.close();
    started = [];
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const newSearch = (where: 'memory' | 'redis', allCompared = ALL_COMPARED) => {
    const vectors = where === 'redis' ? { vectors: createRedisVectors({ sets, changes }, { allCompared }) } : {};
    const stores = { changes, changeLog: createChangeLog(redis), cameras: createCameraStore(redis) };
    const search = createLiveSearch(stores, { most: 10_000, ...vectors, clock: () => 0, logger });
    started.push(search);
    return search;
  };
  const randomVector = (bundle: string = NEW) => {
    const values = Float32Array.from({ length: DIMENSIONS }, () => next() - 0.5);
    const length = Math.hypot(...values);
    return { bundle, values: values.map((value) => value / length) };
  };
  const save = (change: FoundChange, vector = randomVector(), vectorSets = true) =>
    saveTurnChanges(redis, { changes: [opening(change)], vectors: [{ change: change.id, vector }] }, { vectorSets });
  const many = async (count: number, vectorSets = true) => {
    const all = Array.from({ length: count }, (_, i) =>
      foundChange({
        ...{ name: `${i}`, camera: `cam-${i % 60}`, zone: i % 3 === 0 ? 'dock' : null, confirmed: NOON + i * HOUR },
        kind: i % 2 === 0 ? 'appear' : 'disappear',
        severity: i % 5 === 0 ? 'high' : 'low',
        caption: i % 4 === 0 ? `a red car ${i % 2 === 0 ? 'has appeared' : 'has left'}` : 'a person has appeared',
      }),
    );
    for (const one of all) await save(one, randomVector(), vectorSets);
    return all;
  };
  const answer = (search: LiveSearch, text: string, filter: SearchFilter, vector: QueryVector) =>
    search.search(text, filter, async () => vector);
  const elements = (bundle: string = NEW) => redis.call('VCARD', KEYS.vectorSet(bundle, DIMENSIONS));
  const additions = async () => Number(/cmdstat_VADD:calls=(\d+)/i.exec(await redis.info('commandstats'))?.[1] ?? 0);

  const own = new Set(Array.from({ length: 55 }, (_, i) => `cam-${i}`));
  const FILTERS: Record<string, SearchFilter> = {
    none: {},
    'a camera': { camera: (id) => id === 'cam-3' },
    'few cameras of a key': { camera: (id) => /^cam-1\d$/.test(id) },
    'more cameras of a key than an expression lists': { camera: (id) => own.has(id) },
    'no camera': { camera: () => false },
    'a zone': { zone: 'dock' },
    'a time': { since: NOON + 100 * HOUR, until: NOON + 300 * HOUR },
    'a kind': { kind: 'disappear' },
    'a severity': { severity: 'high' },
    'all of them': { zone: 'dock', since: NOON + 10 * HOUR, kind: 'appear', camera: (id) => own.has(id) },
  };

  it('gives the same answers as vectors in memory, with every filter', async () => {
    const all = await many(400);
    const [inMemory, inRedis] = [newSearch('memory'), newSearch('redis')];
    for (const [name, filter] of Object.entries(FILTERS)) {
      for (const except of [undefined, all[7]?.id]) {
        for (const least of [-1, 0.1]) {
          const vector = { ...randomVector(), least };
          const given = { ...filter, ...(except === undefined ? {} : { except }) };
          const [expected, found] = [
            await answer(inMemory, 'red car', given, vector),
            await answer(inRedis, 'red car', given, vector),
          ];
          expect([name, found.changes, found.hits.map(({ id }) => id)]).toEqual([
            name,
            expected.changes,
            expected.hits.map(({ id }) => id),
          ]);
          for (const [i, { cosine, score }] of found.hits.entries()) {
            expect(score).toBe(expected.hits[i]?.score);
            expect(cosine).toBeCloseTo(expected.hits[i]?.cosine as number, 6);
          }
          expect(found.compared).toBeLessThanOrEqual(found.changes);
          expect(found.compared).toBeGreaterThanOrEqual(found.hits.length);
        }
      }
    }
  });

  it('compares the stored vectors of all changes if few pass the filter', async () => {
    await many(60);
    const similar = jest.spyOn(sets, 'similar');
    const vector = { ...randomVector(), least: -1 };
    const found = await answer(newSearch('redis', 20), 'red car', { zone: 'dock' }, vector);
    expect([found.changes, found.compared, similar.mock.calls.length]).toEqual([20, 20, 0]);
    similar.mockRestore();
  });

  it('writes an element with a change, and erases it with the change and with the camera', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => foundChange({ name })) as [
      FoundChange,
      FoundChange,
      FoundChange,
    ];
    for (const change of [one, two, three]) await save(change);
    // A later vector replaces the first, in the step of its turn.
    await save(one);
    expect(await elements()).toBe(3);
    await changes.erase(one.id);
    const key = KEYS.vectorSet(NEW, DIMENSIONS);
    expect(await redis.call('VISMEMBER', key, one.id)).toBe(0);
    expect(await redis.call('VGETATTR', key, one.id)).toBeNull();
    await changes.eraseOf('gate');
    expect(await redis.exists(key)).toBe(0);
    const vector = { ...randomVector(), least: -1 };
    expect(await answer(newSearch('redis'), 'car', {}, vector)).toMatchObject({ hits: [], changes: 0, compared: 0 });
  });

  it('is written in the atomic step of a turn', async () => {
    const stores = createStores(loadConfig({ SEARCH_VECTORS: 'redis' }), redis);
    const at = '2026-01-01T00:00:00.000Z';
    const settings = checkSettings({});
    await stores.cameras.put({ id: 'gate', settings, reference: null, mask: null, created_at: at, updated_at: at });
    const accepted = acceptedComparison({ camera: 'gate' });
    await stores.results.create(accepted);
    await stores.cameras.addFrame('gate', accepted.comparison.id, NOON);
    const turn = (await stores.turns.take('gate', { job: '1', token: 't', ttlMs: 60_000 })) as Turn;
    const change = foundChange({ zone: 'dock' });
    await stores.turns.commit(turn, {
      stored: { ...accepted, comparison: finished(accepted.comparison) },
      changes: {
        ...{ camera: 'gate', changes: [opening(change)], alerts: [], eventsApplied: 0 },
        vectors: [{ change: change.id, vector: randomVector() }],
      },
    });
    const attributes = await redis.call('VGETATTR', KEYS.vectorSet(NEW, DIMENSIONS), change.id);
    expect(JSON.parse(attributes as string)).toEqual({
      camera: Buffer.from('gate').toString('base64url'),
      zone: Buffer.from('dock').toString('base64url'),
      at: NOON,
    });
  });

  it('sends no command of vector sets unless the setting asks for them', async () => {
    const change = foundChange();
    await save(change, randomVector(), false);
    await answer(newSearch('memory'), 'car', {}, { ...randomVector(), least: -1 });
    await changes.erase(change.id);
    expect(await redis.info('commandstats')).not.toMatch(/cmdstat_V(ADD|SIM|REM|ISMEMBER)/i);
  });

  it('fills a set with the changes of before, once for several processes', async () => {
    await many(120, false);
    expect(await elements()).toBe(0);
    const searches = [newSearch('redis'), newSearch('redis')];
    const vector = { ...randomVector(), least: -1 };
    const found = await Promise.all(searches.map((search) => answer(search, 'red car', {}, vector)));
    expect(await elements()).toBe(120);
    expect(found[0]?.hits).toEqual(found[1]?.hits);
    expect(found[0]?.hits).toHaveLength(120);
    const before = await additions();
    expect(before).toBe(120);
    await answer(newSearch('redis'), 'red car', {}, vector);
    // A change that a worker without the setting wrote is added when the log is followed.
    await save(foundChange({ name: 'later' }), randomVector(), false);
    await answer(searches[0] as LiveSearch, 'red car', {}, vector);
    expect(await additions()).toBe(before + 1);
    expect(await elements()).toBe(121);
  });

  it('does not add the element of a change that was erased or altered after it was read', async () => {
    const change = foundChange();
    const vector = randomVector();
    expect(await sets.fill([{ change, vector }])).toBe(0);
    await save(change, randomVector(), false);
    expect(await sets.fill([{ change, vector }])).toBe(0);
    expect(await elements()).toBe(0);
  });

  it('compares vectors of one bundle, and removes elements of changes that expired or got another one', async () => {
    const all = await many(30);
    const [expired, moved] = all as [FoundChange, FoundChange];
    await save(moved, randomVector(OLD));
    await redis.del(KEYS.change(expired.id));
    expect([await elements(), await elements(OLD)]).toEqual([30, 1]);
    const search = newSearch('redis');
    const vector = { ...randomVector(), least: -1 };
    const ids = (await answer(search, 'bicycle or car', {}, vector)).hits.map(({ id }) => id);
    expect(ids).not.toContain(expired.id);
    expect([await elements(), await elements(OLD)]).toEqual([28, 1]);
    const old = await answer(search, 'car', {}, { ...randomVector(OLD), least: -1 });
    expect(old.hits.filter(({ cosine }) => cosine !== undefined).map(({ id }) => id)).toEqual([moved.id]);
    expect(
      await search.search('car', {}, async (index) => ({
        ...((await index.vectorOf(moved.id)) as QueryVector),
        least: 0.7,
      })),
    ).toMatchObject({ compared: 1 });
    expect(await answer(search, 'car', {}, { ...vector, bundle: 'c'.repeat(64) })).toMatchObject({ compared: 0 });
  });

  it.each(['" or 1 == 1 or "', '"] or .at > 0 or .zone in ["x', '\\', 'a\\"b', 'ö红🚗', "it's"])(
    'reads the zone %j as a name',
    async (zone) => {
      const other = foundChange({ name: 'other', zone: 'yard' });
      const named = foundChange({ name: 'named', zone });
      await save(other);
      await save(named);
      const search = newSearch('redis', 0);
      const vector = { ...randomVector(), least: -1 };
      expect((await answer(search, 'car', { zone }, vector)).hits.map(({ id }) => id)).toEqual([named.id]);
      expect((await answer(search, 'car', { zone: `${zone}x` }, vector)).hits).toEqual([]);
    },
  );

  it('needs a Redis with vector sets, and names the version that it found', async () => {
    await expect(assertVectorSets(server.url, logger)).resolves.toBeUndefined();

    const without = await startRedis();
    try {
      const [, version = ''] = /^redis_version:(\S+)/m.exec(await infoOf(without.url)) ?? [];
      const checked = assertVectorSets(without.url, logger);
      if (Number(version.split('.')[0]) >= 8) await expect(checked).resolves.toBeUndefined();
      else {
        await expect(checked).rejects.toMatchObject({
          code: 'invalid-request',
          message: `SEARCH_VECTORS="redis": Redis is version ${version}, expected one with vector sets (version 8 or newer)`,
        });
      }
    } finally {
      await without.stop();
    }
  });
});

async function infoOf(url: string): Promise<string> {
  const redis = connectRedis(url, { role: 'consumer', logger });
  const info = await redis.info('server');
  redis.disconnect();
  return info;
}
