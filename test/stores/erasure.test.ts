/** After the erasure of a camera no store has anything of it: each key of Redis is read, whatever it is. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { eraseComparisonsOf } from '../../src/api/comparisons/erase.js';
import { frameKey } from '../../src/base/blobs.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { EMPTY, runsOn } from '../helpers/camera-runs.js';
import { picture, RED, setUpCamera, turnProcessor, walkingPipeline } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const CAMERA = 'erased-yard';

/** @returns every key with all that it holds, as one text */
async function everything(): Promise<Map<string, string>> {
  const { redis } = bench;
  const read: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const found = new Map<string, string>();
  for (const key of await redis.keys('*')) {
    found.set(key, JSON.stringify(await read[await redis.type(key)]?.(key)));
  }
  return found;
}
const storedFrames = async () =>
  (await readdir(join(bench.folder, 'frames'), { recursive: true }))
    .filter((path) => /[0-9a-f]{64}$/.test(path))
    .map((path) => join('frames', path));
const keysWith = async (text: string) =>
  [...(await everything())].flatMap(([key, value]) => (`${key} ${value}`.includes(text) ? [key] : [])).sort();

it('of a camera leaves nothing that names it', async () => {
  const { redis, results, changes, visits, cameras, frameUses } = bench;
  const camera = await setUpCamera(bench, CAMERA);
  const shown = [18, 20, 22].map((x) => picture({ things: [[x, 20, 6, 20, RED]] }));
  const frames = [EMPTY, ...shown].map((frame, i) => [frame, 5 * i] as const);
  await runsOn(() => bench)(camera, frames, turnProcessor(bench, walkingPipeline()));
  expect((await visits.list({ kind: 'visit', limit: 1 })).items).toHaveLength(1);
  const before = await keysWith(CAMERA);
  expect(before).toEqual(expect.arrayContaining([KEYS.events, KEYS.camera(CAMERA)]));

  const queue = createJobProducer(redis);
  const hashes = async () => new Set((await frameUses.left(Number.MAX_SAFE_INTEGER)).map(frameKey));
  await frameUses.leave(await frameUses.ofCamera(CAMERA), Date.now());
  await cameras.erase(CAMERA);
  await eraseComparisonsOf(CAMERA, { ...bench, queue, clock: Date.now });
  await changes.eraseOf(CAMERA);
  await visits.eraseOf(CAMERA);
  // A job of the queue that finds no camera ends without a trace.
  expect((await keysWith(CAMERA)).filter((key) => !key.startsWith('sd:q:'))).toEqual([]);
  expect((await results.list({ camera: CAMERA, limit: 10 })).items).toEqual([]);
  // The bytes that no camera and no comparison has are all left to the retention.
  expect(await hashes()).toEqual(new Set(await storedFrames()));
  await queue.close();
});

it('of a comparison erases its events, and no others', async () => {
  const { redis, results } = bench;
  for (const id of ['cmp_one', 'cmp_two']) {
    const event = { type: 'comparison.finished', subject: { kind: 'comparison', id }, camera: null, at: '' };
    await redis.xadd(KEYS.events, '*', 'event', JSON.stringify(event));
  }
  await results.eraseEvents('cmp_one');
  expect(await keysWith('cmp_one')).toEqual([]);
  expect(await keysWith('cmp_two')).toEqual([KEYS.events]);
  await results.eraseEventsBefore(Date.now() + 1_000);
  expect(await keysWith('cmp_two')).toEqual([]);
});
