/** The workers on real queues: what BullMQ and Redis do when jobs, workers or Redis fail. */
import { describe, expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import { QUEUES } from '../../src/jobs/queues.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { CALLBACK, useQueues } from '../helpers/queues.js';
import { output, scriptedPipeline } from '../helpers/workers.js';

const queues = useQueues();
const { accept, counted, deliver, finishedEvents, open, serve, statusOf } = queues;

describe('a queued comparison', () => {
  it('is finished and delivered, each once', async () => {
    deliver();
    serve();
    const { id } = await accept({ callbackUrl: CALLBACK });
    await eventually(async () => expect((await queues.bench.deliveries.ofSubject(id))[0]?.state).toBe('delivered'));
    expect(await statusOf(id)).toBe('finished');
    expect(queues.posted).toEqual([id.replace('cmp_', 'dlv_')]);
  });

  it('that fails transiently is tried again', async () => {
    const { pipeline, calls } = scriptedPipeline(
      () => Promise.reject(new ScenedeltaError('inference-failed', 'out of memory')),
      async () => output,
    );
    serve(pipeline);
    const { id } = await accept();
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
    expect(calls).toHaveLength(2);
  });

  it('that fails permanently is tried once, and fails in the queue as well', async () => {
    const { pipeline, calls } = scriptedPipeline(() =>
      Promise.reject(new ScenedeltaError('image-unreadable', 'no image')),
    );
    serve(pipeline);
    const { id, queue } = await accept();
    await eventually(async () => expect(await queue.getJobState(id)).toBe('failed'));
    expect(await statusOf(id)).toBe('failed');
    expect(calls).toHaveLength(1);
  });

  it('of an unknown payload version fails with a message that names it, and is counted', async () => {
    serve();
    const accepted = acceptedComparison();
    const { id } = accepted.comparison;
    const before = await counted('live', 'invalid-request');
    await queues.bench.results.create(accepted);
    await open(QUEUES.live).add('compare', { ...jobOf(accepted), v: 3 }, { jobId: id });
    await eventually(async () => expect(await statusOf(id)).toBe('failed'));
    expect((await queues.bench.results.get(id))?.comparison.error?.detail).toBe(
      'Job payload has version 3, expected 2',
    );
    await eventually(async () => expect(await counted('live', 'invalid-request')).toBe(before + 1));
  });

  it('that fails each time is failed after the last attempt', async () => {
    const { pipeline, calls } = scriptedPipeline(() => Promise.reject(new ScenedeltaError('inference-failed', 'no')));
    serve(pipeline);
    const { id } = await accept({ attempts: 2 });
    await eventually(async () => expect(await statusOf(id)).toBe('failed'));
    expect(calls).toHaveLength(2);
  });

  it('is stopped by a cancellation that any process broadcasts', async () => {
    let stopped = false;
    const { pipeline } = scriptedPipeline(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            stopped = true;
            reject(new ScenedeltaError('cancelled', 'stopped'));
          });
        }),
    );
    serve(pipeline);
    const { id, accepted, queue } = await accept();
    await eventually(async () => expect(await statusOf(id)).toBe('running'));
    await queues.bench.results.update(id, { comparison: { ...accepted.comparison, status: 'cancelled' } });
    await eventually(async () => {
      await queues.bench.redis.publish(KEYS.cancellations, id);
      expect(stopped).toBe(true);
    });
    await eventually(async () => expect(await queue.getJobState(id)).toBe('completed'));
    expect(await statusOf(id)).toBe('cancelled');
  });
});

describe('a worker that ends', () => {
  it('finishes the running job before it has closed', async () => {
    const worker = serve(scriptedPipeline(() => new Promise((resolve) => setTimeout(resolve, 300, output))).pipeline);
    const { id } = await accept();
    await eventually(async () => expect(await statusOf(id)).toBe('running'));
    await worker.close();
    expect(await statusOf(id)).toBe('finished');
  });

  it('without closing loses nothing: another takes the job, and the late result is dropped', async () => {
    let comeLate = () => {};
    const late = new Promise<typeof output>((resolve) => {
      comeLate = () => resolve(output);
    });
    const { pipeline, calls } = scriptedPipeline(
      () => late,
      async () => output,
    );
    serve(pipeline);
    deliver();
    const { id, queue } = await accept({ callbackUrl: CALLBACK });
    await eventually(() => expect(calls).toHaveLength(1));
    // For the queue, a job without a lock has lost its worker.
    await queues.bench.redis.del(`${queue.toKey(id)}:lock`);
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
    expect(calls).toHaveLength(2);
    await eventually(() => expect(queues.posted).toHaveLength(1));
    comeLate();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await finishedEvents()).toBe(1);
    expect(queues.posted).toHaveLength(1);
  });
});

describe('Redis that is killed', () => {
  it('loses and doubles no job, with recovery', async () => {
    deliver();
    serve(scriptedPipeline(() => new Promise((resolve) => setTimeout(resolve, 5, output))).pipeline);
    const made: { id: string }[] = [];
    for (let i = 0; i < 30; i++) made.push(await accept({ callbackUrl: CALLBACK }));
    await queues.bench.server.kill9();
    await queues.bench.server.restart();
    await eventually(async () => {
      for (const { id } of made) expect(await statusOf(id)).toBe('finished');
      // A result may have been saved just before the kill, and its delivery not been queued.
      await queues.recover();
      expect(new Set(queues.posted).size).toBe(30);
    }, 15_000);
    expect(await finishedEvents()).toBe(30);
  });
});

describe('archive work', () => {
  it('waits while live work fills the threads', async () => {
    const order: string[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { pipeline } = scriptedPipeline(async ({ model }) => {
      order.push(model ?? 'live');
      await begun;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return output;
    });
    serve(pipeline, { threads: 1 });
    const live = [];
    for (let i = 0; i < 6; i++) live.push(await accept());
    await eventually(() => expect(order).toHaveLength(2));
    const archived = acceptedComparison();
    await queues.bench.results.create({ ...archived, request: { ...archived.request, model: 'archive' } });
    await queues.producer.addComparison(jobOf(archived), { queue: 'archive' });
    begin();
    await eventually(async () => expect(await statusOf(archived.comparison.id)).toBe('finished'));
    expect(order).toEqual([...live.map(() => 'live'), 'archive']);
  });
});

describe('a failed delivery', () => {
  it('waits in the queue until the time in its log', async () => {
    deliver({ status: 500, error: 'no', retryAfterMs: null, permanent: false });
    serve();
    const { id } = await accept({ callbackUrl: CALLBACK });
    const queue = open(QUEUES.delivery);
    const deliveryId = id.replace('cmp_', 'dlv_');
    await eventually(async () => expect(await queue.getJobState(deliveryId)).toBe('delayed'));
    const [delivery] = await queues.bench.deliveries.ofSubject(id);
    const [job] = await queue.getDelayed();
    expect(delivery?.state).toBe('pending');
    expect((job?.timestamp ?? 0) + (job?.delay ?? 0)).toBeLessThan(Date.parse(delivery?.next_attempt_at ?? '') + 1_000);
    expect(job?.delay).toBeGreaterThan(4_000);
  });
});
