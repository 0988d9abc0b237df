import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLogger } from '../../src/process/logger.js';
import type { ListQuery } from '../../src/stores/comparisons/results.js';
import { createResultStore, type ResultStore } from '../../src/stores/comparisons/results.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
const HOUR = 3_600_000;
let server: TestRedis;
let redis: Redis;
let results: ResultStore;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
  results = createResultStore(redis, { retentionMs: 24 * HOUR });
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const eventTypes = async () =>
  (await redis.xrange(KEYS.events, '-', '+')).map(([, fields]) => JSON.parse(fields[1] ?? '').type);

describe('one comparison', () => {
  it('is read as it was created, and its creation is an event', async () => {
    const accepted = acceptedComparison({ camera: 'gate' });
    await results.create(accepted);
    expect(await results.get(accepted.comparison.id)).toEqual(accepted);
    expect(await eventTypes()).toEqual(['comparison.queued']);
  });

  it('is undefined if it never existed', async () => {
    expect(await results.get('cmp_00000000000000000000000000')).toBeUndefined();
  });

  it.each(['finished', 'failed', 'cancelled'] as const)(
    'once %s never changes again, and says nothing more',
    async (status) => {
      const { comparison, ...rest } = acceptedComparison();
      await results.create({ comparison, ...rest });
      const final = { ...comparison, status };
      expect(await results.update(comparison.id, { comparison: final })).toBe(true);
      for (const later of ['queued', 'running', 'finished', 'failed', 'cancelled'] as const) {
        expect(await results.update(comparison.id, { comparison: { ...comparison, status: later } })).toBe(false);
      }
      expect((await results.get(comparison.id))?.comparison).toEqual(final);
      expect(await eventTypes()).toEqual(['comparison.queued', `comparison.${status}`]);
    },
  );

  it('finished by several at the same moment is finished once', async () => {
    const { comparison, ...rest } = acceptedComparison();
    await results.create({ comparison, ...rest });
    const attempts = Array.from({ length: 20 }, (_, i) =>
      results.update(comparison.id, { comparison: finished(comparison, { caption: `caption ${i}` }) }),
    );
    const won = (await Promise.all(attempts)).flatMap((replaced, i) => (replaced ? [i] : []));
    expect(won).toHaveLength(1);
    expect((await results.get(comparison.id))?.comparison.caption).toBe(`caption ${won[0]}`);
    expect(await eventTypes()).toEqual(['comparison.queued', 'comparison.finished']);
  });

  it('keeps its frames where an update does not name them, and takes those it names', async () => {
    const accepted = acceptedComparison();
    const { comparison } = accepted;
    await results.create(accepted);
    await results.update(comparison.id, { comparison: { ...comparison, status: 'running' } });
    expect((await results.get(comparison.id))?.frames).toEqual(accepted.frames);
    const frames = { before: null, after: accepted.frames.after };
    await results.update(comparison.id, { comparison: { ...comparison, status: 'running' }, frames });
    expect((await results.get(comparison.id))?.frames).toEqual(frames);
  });

  it('that is erased is gone from every index, and a late result is dropped', async () => {
    const accepted = acceptedComparison({ camera: 'gate' });
    const { id } = accepted.comparison;
    await results.create(accepted);
    await results.update(id, { comparison: finished(accepted.comparison) });
    expect(await results.erase(id)).toBe(true);
    expect(await results.erase(id)).toBe(false);
    expect(await results.update(id, { comparison: finished(accepted.comparison) })).toBe(false);
    expect(await results.get(id)).toBeUndefined();
    expect(await redis.keys('sd:cmp*')).toEqual([]);
  });

  it('expires some time after its retention, should no worker erase it', async () => {
    const accepted = acceptedComparison();
    await results.create(accepted);
    const left = await redis.pttl(KEYS.comparison(accepted.comparison.id));
    expect(left).toBeGreaterThan(24 * HOUR);
    expect(left).toBeLessThanOrEqual(26 * HOUR);
  });
});

describe('unfinished comparisons', () => {
  it('is listed while it is not final, the longest untouched first', async () => {
    const [first, second, third] = [3, 2, 1].map((hours) =>
      acceptedComparison({ createdAt: Date.now() - hours * HOUR }),
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error('three were made');
    for (const accepted of [third, first, second]) await results.create(accepted);
    await results.update(second.comparison.id, { comparison: finished(second.comparison) });
    expect(await results.unfinished(Date.now(), 10)).toEqual([first.comparison.id, third.comparison.id]);
    expect(await results.unfinished(Date.now() - 2 * HOUR, 10)).toEqual([first.comparison.id]);
    // a sign of life
    await results.update(first.comparison.id, { comparison: { ...first.comparison, status: 'running' } });
    expect(await results.unfinished(Date.now() - 2 * HOUR, 10)).toEqual([]);
  });

  it.each([
    ['finished', 'https://receiver.example/hook', 1],
    ['failed', 'https://receiver.example/hook', 1],
    ['cancelled', 'https://receiver.example/hook', 0],
    ['finished', null, 0],
  ] as const)(
    'a comparison that is %s with callback %s leaves %d delivery to make',
    async (status, callbackUrl, count) => {
      const accepted = acceptedComparison({ callbackUrl });
      await results.create(accepted);
      await results.update(accepted.comparison.id, { comparison: { ...accepted.comparison, status } });
      const open = await redis.zrange(KEYS.deliveriesOpen, '0', '-1');
      expect(open).toEqual(count === 0 ? [] : [accepted.comparison.id.replace('cmp_', 'dlv_')]);
    },
  );

  it('kill -9 of Redis loses nothing that was acknowledged', async () => {
    const acknowledged: string[] = [];
    let outage: Promise<void> = Promise.resolve();
    for (let i = 0; i < 200; i++) {
      if (i === 100) outage = server.kill9().then(server.restart);
      const accepted = acceptedComparison();
      await results.create(accepted);
      acknowledged.push(accepted.comparison.id);
    }
    await outage;
    const { items } = await results.list({ limit: 1000 });
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set(acknowledged));
    expect(acknowledged).toHaveLength(200);
  });
});

describe('the list', () => {
  const all = async (query: Omit<ListQuery, 'limit'>, limit: number, between?: () => Promise<void>) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await results.list({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
      await between?.();
    } while (cursor !== undefined);
    return ids;
  };

  it('pages through all of it, newest first, without duplicates, while new ones arrive', async () => {
    const start = Date.now() - HOUR;
    // many in the same millisecond: the time alone does not order them
    const made = Array.from({ length: 60 }, (_, i) => acceptedComparison({ createdAt: start + Math.floor(i / 20) }));
    for (const accepted of made) await results.create(accepted);
    const before = made.map(({ comparison }) => comparison.id);
    const ids = await all({}, 7, async () => void (await results.create(acceptedComparison())));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => before.includes(id))).toEqual([...before].sort().reverse());
  });

  it('fills its pages over erased comparisons', async () => {
    const made = Array.from({ length: 20 }, () => acceptedComparison());
    for (const accepted of made) await results.create(accepted);
    for (const { comparison } of made.slice(3, 17)) await redis.del(KEYS.comparison(comparison.id));
    expect(await all({}, 4)).toHaveLength(6);
    const { items } = await results.list({ limit: 6 });
    expect(items).toHaveLength(6);
  });

  it('filters by camera, verdict and time, each alone and together', async () => {
    const at = Date.now() - HOUR;
    const make = async (camera: string, verdict: 'change' | 'none', createdAt: number) => {
      const accepted = acceptedComparison({ camera, createdAt });
      await results.create(accepted);
      await results.update(accepted.comparison.id, {
        comparison: finished(accepted.comparison, { verdict }),
      });
      return accepted.comparison.id;
    };
    const a = await make('gate', 'change', at);
    const b = await make('gate', 'none', at + 1);
    const c = await make('yard:2', 'change', at + 2);
    expect(await all({}, 10)).toEqual([c, b, a]);
    expect(await all({ camera: 'gate' }, 1)).toEqual([b, a]);
    expect(await all({ verdict: 'change' }, 1)).toEqual([c, a]);
    expect(await all({ camera: 'yard:2', verdict: 'change' }, 1)).toEqual([c]);
    expect(await all({ camera: 'yard:2', verdict: 'none' }, 1)).toEqual([]);
    expect(await all({ since: at + 1 }, 1)).toEqual([c, b]);
    expect(await all({ until: at + 1 }, 1)).toEqual([a]);
    expect(await all({ since: at + 1, until: at + 2, camera: 'gate' }, 1)).toEqual([b]);
  });

  it('names what is older than a time, oldest first', async () => {
    const [older, newer] = [2, 1].map((hours) => acceptedComparison({ createdAt: Date.now() - hours * HOUR }));
    if (older === undefined || newer === undefined) throw new Error('two were made');
    await results.create(newer);
    await results.create(older);
    expect(await results.olderThan(Date.now(), 10)).toEqual([older.comparison.id, newer.comparison.id]);
    expect(await results.olderThan(Date.now(), 1)).toEqual([older.comparison.id]);
    expect(await results.olderThan(Date.now() - 1.5 * HOUR, 10)).toEqual([older.comparison.id]);
  });

  it.each(['x', '', 'MTIz', Buffer.from('1:../etc').toString('base64url')])('refuses the cursor %j', async (cursor) => {
    await expect(results.list({ cursor, limit: 1 })).rejects.toMatchObject({
      code: 'invalid-request',
      field: 'cursor',
    });
  });
});
