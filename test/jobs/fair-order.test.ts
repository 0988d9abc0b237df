/** The order of jobs between owners: those of one wait for their own, not for all of another's. */
import { expect, it } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createFairOrder } from '../../src/jobs/batch-jobs.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import { BATCH_QUEUE, openQueue } from '../../src/jobs/queues.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

/** @returns owners in the order in which their batches would run */
async function order(): Promise<string[]> {
  const queue = openQueue(BATCH_QUEUE, bench.redis);
  const ids = await bench.redis.zrange(queue.toKey('prioritized'), '0', '-1');
  await queue.close();
  return Promise.all(ids.map(async (id) => (await bench.batches.get(id.replace('-plan', '')))?.owner ?? '?'));
}

it('lets the one batch of an owner pass 150 of another', async () => {
  const queue = createJobProducer(bench.redis);
  const add = async (owner: string) => {
    const batch = { id: newId('bat', Date.now()), owner, createdAt: Date.now(), request: {} as never };
    await bench.batches.create(batch);
    await queue.addBatch(batch);
  };
  for (let i = 0; i < 150; i++) await add('greedy');
  await add('modest');
  expect((await order()).indexOf('modest')).toBe(1);
  // A new owner comes after the jobs that have run meanwhile, and before the rest.
  await queue.batchJobBegins(100);
  await add('late');
  const all = await order();
  expect(all.indexOf('late')).toBe(102);
  await queue.close();
});

it('counts each camera of a batch, and starts again when the queue is idle', async () => {
  const queue = openQueue(BATCH_QUEUE, bench.redis);
  const fair = createFairOrder(bench.redis, queue);
  await queue.add('held', {}, { priority: 7 });
  expect(await fair.take('a', 3)).toEqual([1, 2, 3]);
  expect(await fair.take('b', 2)).toEqual([1, 2]);
  expect(await fair.take('a')).toEqual([4]);
  await fair.begin(3);
  expect(await fair.take('b')).toEqual([4]);
  await queue.drain();
  expect(await fair.take('b')).toEqual([1]);
  await queue.close();
});
