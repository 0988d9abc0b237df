/** The search index of an API process beside a real Redis: it is read once, and follows every write and erasure. */
import type { Redis } from 'ioredis';
import { createLiveSearch, type LiveSearch } from '../../src/api/search/live-index.js';
import { createLogger } from '../../src/process/logger.js';
import type { FoundChange } from '../../src/schemas/change.js';
import { createCameraStore } from '../../src/stores/cameras/cameras.js';
import { createChangeLog } from '../../src/stores/changes/change-log.js';
import { type ChangeStore, createChangeStore } from '../../src/stores/changes/changes.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { foundChange, NOON, opening, saveTurnChanges } from '../helpers/changes.js';
import { eventually } from '../helpers/eventually.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
let changes: ChangeStore;
let now = 0;
let started: LiveSearch[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
  changes = createChangeStore(redis, { retentionMs: 3_600_000 });
});
beforeEach(async () => {
  await redis.flushall();
});
afterEach(async () => {
  for (const search of started) await search.close();
  started = [];
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const newSearch = (most = 1_000, from: ChangeStore = changes) => {
  const stores = { changes: from, changeLog: createChangeLog(redis), cameras: createCameraStore(redis) };
  const search = createLiveSearch(stores, { most, clock: () => now, logger });
  started.push(search);
  return search;
};
const open = async (...all: FoundChange[]) => saveTurnChanges(redis, { changes: all.map(opening) });
const found = async (search: LiveSearch, text: string) => (await search.search(text, {})).hits.map(({ id }) => id);

it('finds changes of before its start, and those written since', async () => {
  const before = foundChange({ name: 'before', caption: 'a truck has appeared' });
  await open(before);
  const search = newSearch();
  expect(await found(search, 'truck')).toEqual([before.id]);
  const since = foundChange({ name: 'since', caption: 'a truck has appeared', confirmed: NOON + 1 });
  await open(since);
  expect(await found(search, 'truck')).toEqual([since.id, before.id]);
});

it('reads more changes than a page, and finds the same after a restart', async () => {
  const all = Array.from({ length: 450 }, (_, i) => foundChange({ name: `${i}`, confirmed: NOON + i }));
  for (let from = 0; from < all.length; from += 50) await open(...all.slice(from, from + 50));
  expect(await newSearch().search('car', {})).toMatchObject({ changes: 450, complete: true });
  expect((await newSearch().search('car', {})).hits).toHaveLength(450);
});

it('finds the sentence of feedback until it is withdrawn', async () => {
  const change = foundChange();
  await open(change);
  const search = newSearch();
  expect(await found(search, 'pizza')).toEqual([]);
  await changes.giveFeedback(change.id, { judgement: 'correct', caption: 'a pizza was delivered' });
  expect(await found(search, 'pizza')).toEqual([change.id]);
  await changes.withdrawFeedback(change.id);
  expect(await found(search, 'pizza')).toEqual([]);
});

it('loses a change with its erasure, however it is erased', async () => {
  const [one, two] = ['one', 'two'].map((name) => foundChange({ name })) as [FoundChange, FoundChange];
  await open(one, two);
  const search = newSearch();
  expect(await found(search, 'car')).toHaveLength(2);
  await changes.erase(one.id);
  expect(await search.search('car', {})).toMatchObject({ hits: [{ id: two.id }], changes: 1 });
  await changes.eraseOf('gate');
  expect(await search.search('car', {})).toMatchObject({ hits: [], changes: 0 });
});

it('reads everything again if the log was trimmed or Redis lost it', async () => {
  await open(foundChange({ name: 'one' }));
  const search = newSearch();
  expect(await found(search, 'car')).toHaveLength(1);
  const two = foundChange({ name: 'two' });
  await open(two);
  await redis.xtrim(KEYS.changeLog, 'MAXLEN', 0);
  expect(await found(search, 'car')).toHaveLength(2);
  await redis.flushall();
  expect(await found(search, 'car')).toEqual([]);
});

it('follows the log in the background, so that it loses an erased change without a search', async () => {
  const change = foundChange();
  await open(change);
  const read: string[] = [];
  const many: ChangeStore['many'] = (ids) => {
    read.push(...ids);
    return changes.many(ids);
  };
  const search = newSearch(10, { ...changes, many });
  await search.search('car', {});
  search.start();
  await changes.erase(change.id);
  await eventually(() => expect(read).toEqual([change.id]));
});

it('reads the names of cameras and zones again after some seconds', async () => {
  const change = foundChange({ camera: 'c1' });
  await open(change);
  const search = newSearch();
  expect(await found(search, 'loading')).toEqual([]);
  const settings = { name: 'Loading bay', zones: [] };
  await createCameraStore(redis).put({ id: 'c1', settings } as unknown as Parameters<
    ReturnType<typeof createCameraStore>['put']
  >[0]);
  now += 60_000;
  expect(await found(search, 'loading')).toEqual([change.id]);
});

it('compares search vectors that were stored before its start and since, until the change is erased', async () => {
  const [car, horse, van] = ['car', 'horse', 'van'].map((name) =>
    foundChange({ name, caption: `a ${name} has appeared` }),
  ) as [FoundChange, FoundChange, FoundChange];
  const vector = { bundle: 'b'.repeat(64), values: Float32Array.of(0.6, 0.8) };
  const withVector = (change: FoundChange) =>
    saveTurnChanges(redis, { changes: [opening(change)], vectors: [{ change: change.id, vector }] });
  await withVector(horse);
  await open(car);
  const search = newSearch();
  const near = async () =>
    (await search.search('person', {}, async () => ({ ...vector, least: 0.9 }))).hits.map(({ id }) => id).sort();
  expect(await near()).toEqual([horse.id]);
  await withVector(van);
  expect(await near()).toEqual([horse.id, van.id].sort());
  // A write of the API keeps the vector.
  await changes.giveFeedback(van.id, { judgement: 'correct' });
  expect(await near()).toEqual([horse.id, van.id].sort());
  await changes.erase(horse.id);
  expect(await near()).toEqual([van.id]);
  expect(await redis.hgetall(KEYS.change(horse.id))).toEqual({});
});

it('keeps the latest changes within its bound', async () => {
  for (let i = 0; i < 30; i++) await open(foundChange({ name: `${i}`, confirmed: NOON + i }));
  const { changes: searched } = await newSearch(10).search('car', {});
  expect(searched).toBeLessThanOrEqual(10);
});
