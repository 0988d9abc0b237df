/** The workers on a real queue: what BullMQ and Redis do when things end badly. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { ScenedeltaError } from '../../src/errors.js';
import { createJobProducer, type JobProducer } from '../../src/jobs/producer.js';
import { PRIORITY, QUEUE_PREFIX, QUEUES } from '../../src/jobs/queues.js';
import { KEYS } from '../../src/stores/keys.js';
import { createDeliveryProcessor, type DeliveryProcessor } from '../../src/workers/delivery-job.js';
import { createEnqueueDelivery } from '../../src/workers/enqueue-delivery.js';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import {
  type QueueWorkers,
  startComparisonWorkers,
  startDeliveryWorker,
} from '../../src/workers/queue-workers.js';
import { createRecovery, RECOVER_AFTER_MS } from '../../src/workers/recovery.js';
import { setUpCamera } from '../helpers/cameras.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import {
  type Bench,
  comparisonProcessor,
  logger,
  output,
  scriptedPipeline,
  setUpBench,
} from '../helpers/workers.js';

const LOCK_MS = 1_000;
const CALLBACK = 'https://user.example/hook';
let bench: Bench;
let producer: JobProducer;
let posted: string[];
const running: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  bench = await setUpBench();
  producer = createJobProducer(bench.redis);
});
beforeEach(async () => {
  posted = [];
  await bench.redis.flushall();
  await bench.storeFrames();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await producer.close();
  await bench.stop();
});

const metrics = createWorkerMetrics();
const common = () => ({ redis: bench.redis, config: { jobLockMs: LOCK_MS }, logger, metrics });
const enqueueDelivery = () => createEnqueueDelivery({ deliveries: bench.deliveries, queue: producer });
const processorOf = (pipeline = scriptedPipeline().pipeline) =>
  comparisonProcessor(bench, { pipeline, enqueueDelivery: enqueueDelivery(), cameras: bench.cameras });
const serve = (pipeline = scriptedPipeline().pipeline, options: { threads?: number } = {}) => {
  const processor = processorOf(pipeline);
  const worker = startComparisonWorkers({
    ...common(),
    processor,
    turns: { process: async () => ({ kind: 'idle' }) },
    queue: producer,
    threads: options.threads ?? 2,
    concurrency: 2,
  });
  running.push(worker);
  return worker;
};
const deliveryProcessor = (
  outcome = { status: 200, error: null as string | null, retryAfterMs: null, permanent: false },
) =>
  createDeliveryProcessor({
    ...bench,
    outbound: {
      post: async (_url, { headers }) => {
        posted.push(headers['webhook-id'] ?? '');
        return outcome;
      },
    },
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    links: { baseUrl: 'http://x', key: Buffer.alloc(32), framesMs: 1, heatmapsMs: 1 },
    clock: Date.now,
    random: () => 0.5,
    logger,
  });
const deliver = (processor: DeliveryProcessor = deliveryProcessor()): QueueWorkers => {
  const worker = startDeliveryWorker({ ...common(), processor });
  running.push(worker);
  return worker;
};

const open = (name: string): Queue => {
  const queue = new Queue(name, { connection: bench.redis, prefix: QUEUE_PREFIX });
  queue.on('error', () => {}); // the outages are the test's own
  running.push(queue);
  return queue;
};

/** As the API does it. */
const accept = async (
  options: Parameters<typeof acceptedComparison>[0] & { queue?: keyof typeof QUEUES; attempts?: number } = {},
) => {
  const accepted = acceptedComparison(options);
  await bench.results.create(accepted);
  const queue = open(QUEUES[options.queue ?? 'live']);
  await queue.add('compare', jobOf(accepted), {
    jobId: accepted.comparison.id,
    attempts: options.attempts ?? 3,
    backoff: { type: 'fixed', delay: 50 },
    priority: PRIORITY.live,
  });
  return { id: accepted.comparison.id, accepted, queue };
};
const statusOf = async (id: string) => (await bench.results.get(id))?.comparison.status;
const finishedEvents = async () =>
  (await bench.redis.xrange(KEYS.events, '-', '+')).filter(([, fields]) =>
    /finished|failed/.test(fields[1] ?? ''),
  ).length;

const counted = async (queue: string, outcome: string): Promise<number> => {
  const counter = await metrics.registry.getSingleMetric('scenedelta_comparisons_total')?.get();
  const found = counter?.values.find(({ labels }) => labels.queue === queue && labels.outcome === outcome);
  return found?.value ?? 0;
};

describe('a queued comparison', () => {
  it('is finished and delivered, each once', async () => {
    deliver();
    serve();
    const { id } = await accept({ callbackUrl: CALLBACK });
    await eventually(async () =>
      expect((await bench.deliveries.ofComparison(id))[0]?.state).toBe('delivered'),
    );
    expect(await statusOf(id)).toBe('finished');
    expect(posted).toEqual([id.replace('cmp_', 'dlv_')]);
  });

  it('that fails for a moment is tried again', async () => {
    const { pipeline, calls } = scriptedPipeline(
      () => Promise.reject(new ScenedeltaError('inference-failed', 'out of memory')),
      async () => output,
    );
    serve(pipeline);
    const { id } = await accept();
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
    expect(calls).toHaveLength(2);
  });

  it('that fails for good is tried once, and fails in the queue as well', async () => {
    const { pipeline, calls } = scriptedPipeline(() =>
      Promise.reject(new ScenedeltaError('image-unreadable', 'no image')),
    );
    serve(pipeline);
    const { id, queue } = await accept();
    await eventually(async () => expect(await queue.getJobState(id)).toBe('failed'));
    expect(await statusOf(id)).toBe('failed');
    expect(calls).toHaveLength(1);
  });

  it('that no worker can read is failed, and counted', async () => {
    serve();
    const accepted = acceptedComparison();
    const { id } = accepted.comparison;
    const before = await counted('live', 'invalid-request');
    await bench.results.create(accepted);
    await open(QUEUES.live).add('compare', { ...jobOf(accepted), v: 3 }, { jobId: id });
    await eventually(async () => expect(await statusOf(id)).toBe('failed'));
    await eventually(async () => expect(await counted('live', 'invalid-request')).toBe(before + 1));
  });

  it('that fails each time is failed after the last attempt', async () => {
    const { pipeline, calls } = scriptedPipeline(() =>
      Promise.reject(new ScenedeltaError('inference-failed', 'no')),
    );
    serve(pipeline);
    const { id } = await accept({ attempts: 2 });
    await eventually(async () => expect(await statusOf(id)).toBe('failed'));
    expect(calls).toHaveLength(2);
  });

  it('is stopped by a cancel that any process broadcasts', async () => {
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
    await bench.results.update(id, { comparison: { ...accepted.comparison, status: 'cancelled' } });
    await eventually(async () => {
      await bench.redis.publish(KEYS.cancellations, id);
      expect(stopped).toBe(true);
    });
    await eventually(async () => expect(await queue.getJobState(id)).toBe('completed'));
    expect(await statusOf(id)).toBe('cancelled');
  });
});

describe('a worker that goes away', () => {
  it('finishes what it runs before it has closed', async () => {
    const worker = serve(
      scriptedPipeline(() => new Promise((resolve) => setTimeout(resolve, 300, output))).pipeline,
    );
    const { id } = await accept();
    await eventually(async () => expect(await statusOf(id)).toBe('running'));
    await worker.close();
    expect(await statusOf(id)).toBe('finished');
  });

  it('without closing loses nothing: another takes the job up, and whoever is late is dropped', async () => {
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
    // to the queue, a job whose lock has expired has lost its worker
    await bench.redis.del(`${queue.toKey(id)}:lock`);
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
    expect(calls).toHaveLength(2);
    await eventually(() => expect(posted).toHaveLength(1));
    comeLate();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await finishedEvents()).toBe(1);
    expect(posted).toHaveLength(1);
  });
});

describe('Redis killed in the middle', () => {
  it('loses and doubles no job', async () => {
    deliver();
    serve(scriptedPipeline(() => new Promise((resolve) => setTimeout(resolve, 5, output))).pipeline);
    const made: { id: string }[] = [];
    for (let i = 0; i < 30; i++) made.push(await accept({ callbackUrl: CALLBACK }));
    await bench.server.kill9();
    await bench.server.restart();
    await eventually(async () => {
      for (const { id } of made) expect(await statusOf(id)).toBe('finished');
      expect(new Set(posted).size).toBe(30);
    }, 15_000);
    expect(await finishedEvents()).toBe(30);
  });
});

describe('archive work', () => {
  it('waits while live work fills the threads, and comes after', async () => {
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
    await bench.results.create({ ...archived, request: { ...archived.request, model: 'archive' } });
    await producer.addComparison(jobOf(archived), { queue: 'archive' });
    begin();
    await eventually(async () => expect(await statusOf(archived.comparison.id)).toBe('finished'));
    expect(order).toEqual([...live.map(() => 'live'), 'archive']);
  });
});

describe('a failed delivery', () => {
  it('waits in the queue for the time that its log says', async () => {
    deliver(deliveryProcessor({ status: 500, error: 'no', retryAfterMs: null, permanent: false }));
    serve();
    const { id } = await accept({ callbackUrl: CALLBACK });
    const queue = open(QUEUES.delivery);
    const deliveryId = id.replace('cmp_', 'dlv_');
    await eventually(async () => expect(await queue.getJobState(deliveryId)).toBe('delayed'));
    const [delivery] = await bench.deliveries.ofComparison(id);
    const [job] = await queue.getDelayed();
    expect(delivery?.state).toBe('pending');
    expect((job?.timestamp ?? 0) + (job?.delay ?? 0)).toBeLessThan(
      Date.parse(delivery?.next_attempt_at ?? '') + 1_000,
    );
    expect(job?.delay).toBeGreaterThan(4_000);
  });
});

describe('recovery', () => {
  const recover = (skipMs = RECOVER_AFTER_MS + 1_000) =>
    createRecovery({
      ...bench,
      queue: producer,
      enqueueDelivery: enqueueDelivery(),
      giveUp: processorOf().giveUp,
      metrics,
      clock: () => Date.now() + skipMs,
      logger,
    })();

  it("puts a camera's frame whose process died on the way into its line, with one job for all of them", async () => {
    await setUpCamera(bench, 'gate');
    const frames = [acceptedComparison({ camera: 'gate' }), acceptedComparison({ camera: 'gate' })];
    for (const [i, { request, ...rest }] of frames.entries()) {
      const turn = { camera: 'gate', capturedAt: i };
      await bench.results.create({ ...rest, request: { ...request, before: null, turn } });
    }
    await recover();
    expect(await bench.cameras.waitingFrames('gate')).toBe(2);
    const jobs = await open(QUEUES.live).getPrioritized();
    expect(jobs.map(({ name, data }) => [name, data])).toEqual([['turn', { v: 2, camera: 'gate' }]]);
  });

  it('ends a frame whose camera was erased meanwhile', async () => {
    const { request, ...rest } = acceptedComparison({ camera: 'gone' });
    await bench.results.create({
      ...rest,
      request: { ...request, before: null, turn: { camera: 'gone', capturedAt: 1 } },
    });
    await recover();
    expect((await bench.results.get(rest.comparison.id))?.comparison).toMatchObject({
      status: 'failed',
      error: { status: 410, detail: 'the camera gone was erased' },
    });
  });

  it('queues a comparison that was accepted and whose process died before queueing it', async () => {
    const accepted = acceptedComparison();
    await bench.results.create(accepted);
    expect(await recover(0)).toEqual({ comparisons: 0, deliveries: 0 }); // it may still be under way
    expect(await recover()).toEqual({ comparisons: 1, deliveries: 0 });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    serve();
    await eventually(async () => expect(await statusOf(accepted.comparison.id)).toBe('finished'));
  });

  it('leaves alone what waits, runs or is done', async () => {
    await accept();
    await accept({ queue: 'archive' });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
  });

  it('queues the delivery of a result whose worker died right after saving it', async () => {
    const accepted = acceptedComparison({ callbackUrl: CALLBACK });
    await bench.results.create(accepted);
    await bench.results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'failed' },
    });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 1 });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    deliver();
    await eventually(() => expect(posted).toHaveLength(1));
    await eventually(async () => expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(0));
  });

  it('forgets the delivery of a comparison that was erased', async () => {
    const accepted = acceptedComparison({ callbackUrl: CALLBACK });
    await bench.results.create(accepted);
    await bench.results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'failed' },
    });
    await bench.results.erase(accepted.comparison.id);
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(0);
  });

  it('fails the comparison of a job that the queue has given up', async () => {
    const { id, queue } = await accept({ callbackUrl: CALLBACK });
    // what BullMQ leaves when a job has lost its worker too often and the last one died before saving that
    await bench.redis.zrem(queue.toKey('prioritized'), id);
    await bench.redis.zadd(queue.toKey('failed'), Date.now(), id);
    const before = await counted('recovery', 'inference-failed');
    expect(await recover()).toEqual({ comparisons: 1, deliveries: 0 });
    expect((await bench.results.get(id))?.comparison).toMatchObject({
      status: 'failed',
      error: { status: 500 },
    });
    expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(1);
    expect(await counted('recovery', 'inference-failed')).toBe(before + 1);
  });
});
