/** The age of the oldest waiting job, on a real Redis. */
import { newId } from '../../src/base/ids.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import { openQueue, PRIORITY, QUEUES } from '../../src/jobs/queues.js';
import { setUpBench } from '../helpers/workers.js';

it('is that of the job which waits for longest, whatever its priority, and no delayed job counts', async () => {
  const bench = await setUpBench();
  const queue = createJobProducer(bench.redis);
  const [live, archive] = [openQueue(QUEUES.live, bench.redis), openQueue(QUEUES.archive, bench.redis)];
  try {
    expect(await queue.oldest()).toEqual({});
    const add = (at: number, options: object) =>
      live.add('any', {}, { jobId: newId('cmp'), timestamp: at, ...options });
    await add(1_000, { priority: PRIORITY.unattended });
    await add(2_000, { priority: PRIORITY.unattended });
    await add(500, { delay: 60_000 });
    await archive.add('any', {}, { jobId: newId('cmp'), timestamp: 4_000, priority: PRIORITY.archive });
    expect(await queue.oldest()).toEqual({ live: 1_000, archive: 4_000 });
    await add(900, { priority: PRIORITY.live });
    await add(950, { priority: PRIORITY.live });
    expect(await queue.oldest()).toEqual({ live: 900, archive: 4_000 });
  } finally {
    await Promise.all([live, archive, queue].map((one) => one.close()));
    await bench.stop();
  }
});
