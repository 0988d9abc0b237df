/** Pages of ids in the order of time, on a real Redis. */
import { expect, it } from '@jest/globals';
import { idPages, pageOf } from '../../src/stores/redis/pages.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const INDEX = 'ids-by-time';

const add = (count: number, timeOf: (i: number) => number) =>
  bench.redis.zadd(
    INDEX,
    ...Array.from({ length: count }, (_, i) => [timeOf(i), `id_${String(i).padStart(4, '0')}`]).flat(),
  );
const pages = async (since: number, size: number) => {
  const found: string[][] = [];
  for await (const page of idPages(bench.redis, INDEX, since, size)) found.push(page);
  return found;
};

it.each([
  ['of different times', (i: number) => i],
  ['of which more than a page have one time', (i: number) => Math.floor(i / 25)],
  ['of one time', () => 7],
])('all ids %s come once, in the order of time', async (_, timeOf) => {
  await add(60, timeOf);
  const found = await pages(0, 10);
  expect(found.flat()).toEqual(Array.from({ length: 60 }, (__, i) => `id_${String(i).padStart(4, '0')}`));
  expect(Math.max(...found.map((page) => page.length))).toBe(10);
});

it('an earlier time than asked for is left out, and an id that comes meanwhile is not', async () => {
  await add(20, (i) => i);
  const found: string[] = [];
  for await (const page of idPages(bench.redis, INDEX, 5, 10)) {
    if (found.length === 0) await bench.redis.zadd(INDEX, 19, 'late');
    found.push(...page);
  }
  expect([found[0], found.at(-1), found.length]).toEqual(['id_0005', 'late', 16]);
});

it.each([1, 2, 7, 50])('pages of %i of several sets are those of one set that has all their ids', async (limit) => {
  await add(40, (i) => Math.floor(i / 3));
  const parts = [`${INDEX}-0`, `${INDEX}-1`, `${INDEX}-2`];
  const ids = await bench.redis.zrange(INDEX, '0', '-1', 'WITHSCORES');
  for (let i = 0; i < ids.length; i += 2) {
    await bench.redis.zadd(parts[(i / 2) % 4] ?? `${INDEX}-0`, Number(ids[i + 1]), String(ids[i]));
  }
  const list = async (index: string | readonly string[]) => {
    const found: string[][] = [];
    let cursor: string | undefined;
    do {
      const query = { limit, since: 2, until: 12, ...(cursor === undefined ? {} : { cursor }) };
      const page = await pageOf(bench.redis, index, query, async (some) =>
        some.map((id) => (id < 'id_0020' ? undefined : id)),
      );
      found.push(page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };
  const expected = await list(INDEX);
  expect(expected.flat()).toHaveLength(16);
  expect(await list(parts)).toEqual(expected);
});
