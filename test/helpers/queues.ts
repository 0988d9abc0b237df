/** Workers on real queues: a private Redis, emptied before each test, and workers that are closed after it. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { Queue } from 'bullmq';
import type { FetchFrame } from '../../src/frames/fetch.js';
import { createArchiveGate } from '../../src/jobs/archive-gate.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { createJobProducer, type JobProducer } from '../../src/jobs/producer.js';
import { openQueue, PRIORITY, QUEUES } from '../../src/jobs/queues.js';
import { serveTable } from '../../src/jobs/run-jobs.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import type { TurnProcessor } from '../../src/workers/camera-turn.js';
import { createDeliveryProcessor } from '../../src/workers/deliveries/delivery-job.js';
import { createDeliveryLimits } from '../../src/workers/deliveries/delivery-limits.js';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { comparisonQueues, deliveryQueue } from '../../src/workers/queue-workers.js';
import { createRecovery, RECOVER_AFTER_MS } from '../../src/workers/recovery.js';
import { acceptedComparison, jobOf } from './comparisons.js';
import { type Bench, comparisonProcessor, logger, scriptedPipeline, setUpBench } from './workers.js';

/** Lifetime of a job's lock in ms: a job whose worker died is taken up after it. */
const LOCK_MS = 1_000;
export const CALLBACK = 'https://user.example/hook';
const DELIVERED = { status: 200, error: null as string | null, retryAfterMs: null, permanent: false };

/** To be called once per test file, outside of its tests. */
export function useQueues() {
  let bench: Bench;
  let producer: JobProducer;
  const posted: string[] = [];
  const running: { close(): Promise<unknown> }[] = [];
  const metrics = createWorkerMetrics();

  beforeAll(async () => {
    bench = await setUpBench();
    producer = createJobProducer(bench.redis);
  });
  beforeEach(async () => {
    posted.length = 0;
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

  const closedAfterTest = <T extends { close(): Promise<unknown> }>(one: T): T => {
    running.push(one);
    return one;
  };
  const common = () => ({ redis: bench.redis, config: { jobLockMs: LOCK_MS }, logger, metrics, guard: bench.guard });
  const enqueueDelivery = () => createEnqueueDelivery({ ...bench, queue: producer });
  const processor = (pipeline = scriptedPipeline().pipeline, fetchFrame?: FetchFrame) =>
    comparisonProcessor(bench, {
      pipeline,
      enqueueDelivery: enqueueDelivery(),
      cameras: bench.cameras,
      ...(fetchFrame === undefined ? {} : { fetchFrame }),
    });
  const open = (name: string): Queue => closedAfterTest(openQueue(name, bench.redis));

  return {
    get bench() {
      return bench;
    },
    get producer() {
      return producer;
    },
    /** webhook ids of the requests that reached the receiver */
    posted,
    open,
    /** Starts workers for live and archive comparisons, and for fetches. */
    serve: (
      pipeline = scriptedPipeline().pipeline,
      {
        threads = 2,
        fetchFrame,
        turns = { process: async () => ({ kind: 'idle' }) },
      }: { threads?: number; fetchFrame?: FetchFrame; turns?: TurnProcessor } = {},
    ) =>
      closedAfterTest(
        serveTable(
          comparisonQueues({
            ...common(),
            processor: processor(pipeline, fetchFrame),
            turns,
            queue: producer,
            gate: createArchiveGate(open(QUEUES.live), threads),
            concurrency: 2,
          }),
          common(),
        ),
      ),
    /** Starts a worker for deliveries. @param outcome of every request */
    deliver: (outcome = DELIVERED) =>
      closedAfterTest(
        serveTable(
          {
            [QUEUES.delivery]: deliveryQueue({
              ...common(),
              processor: createDeliveryProcessor({
                ...bench,
                outbound: {
                  post: async (_url, { headers }) => {
                    posted.push(headers['webhook-id'] ?? '');
                    return outcome;
                  },
                  put: () => Promise.reject(),
                  askPermission: async () => ({ rate: null }),
                  mail: () => Promise.reject(),
                },
                pictureOf: async () => undefined,
                cropOf: async () => undefined,
                limits: createDeliveryLimits(Date.now),
                loginKey: Buffer.alloc(32, 1),
                secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
                links: { baseUrl: 'http://x', key: Buffer.alloc(32), framesMs: 1, heatmapsMs: 1 },
                clock: Date.now,
                random: () => 0.5,
                logger,
              }),
            }),
          },
          common(),
        ),
      ),
    /** Accepts a comparison as the API does. */
    accept: async (
      options: Parameters<typeof acceptedComparison>[0] & {
        queue?: keyof typeof QUEUES;
        attempts?: number;
      } = {},
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
    },
    /** Runs one round of recovery. @param skipMs how far its clock is ahead */
    recover: (skipMs = RECOVER_AFTER_MS + 1_000) =>
      createRecovery({
        ...bench,
        queue: producer,
        enqueueDelivery: enqueueDelivery(),
        giveUp: processor().giveUp,
        metrics,
        clock: () => Date.now() + skipMs,
        logger,
      })(),
    statusOf: async (id: string) => (await bench.results.get(id))?.comparison.status,
    /** @returns how many comparisons have ended, by the stream of events */
    finishedEvents: async () =>
      (await bench.redis.xrange(KEYS.events, '-', '+')).filter(([, fields]) => /finished|failed/.test(fields[1] ?? ''))
        .length,
    /** @returns the count of comparisons in the metrics */
    counted: async (queue: string, outcome: string): Promise<number> => {
      const counter = await metrics.registry.getSingleMetric('scenedelta_comparisons_total')?.get();
      const found = counter?.values.find(({ labels }) => labels.queue === queue && labels.outcome === outcome);
      return found?.value ?? 0;
    },
  };
}
