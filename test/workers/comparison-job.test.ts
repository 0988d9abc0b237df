import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { heatmapKey } from '../../src/base/blobs.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { decodeHeatmapData } from '../../src/heatmaps/data.js';
import type { EnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { createOutboundClient } from '../../src/outbound/client.js';
import type { StoredComparison } from '../../src/stores/comparisons/results.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { type Bench, comparisonProcessor, heatmaps, output, scriptedPipeline, setUpBench } from '../helpers/workers.js';

let bench: Bench;
let enqueued: StoredComparison[];
const outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 2_000 });

beforeAll(async () => {
  bench = await setUpBench();
  await bench.storeFrames();
});
beforeEach(async () => {
  enqueued = [];
  await bench.redis.flushall();
});
afterAll(async () => {
  await outbound.close();
  await bench.stop();
});

const enqueueDelivery: Pick<EnqueueDelivery, 'ofComparison' | 'ofAlert'> = {
  ofComparison: async (stored) => {
    if (stored.request.callbackUrl !== null) enqueued.push(stored);
  },
  ofAlert: async () => {},
};
const processor = (change: Parameters<typeof comparisonProcessor>[1] = {}) =>
  comparisonProcessor(bench, {
    enqueueDelivery,
    fetchFrame: createFrameFetcher({
      blobs: bench.blobs,
      outbound,
      s3: undefined,
      config: { frameLimit: 1_000, pixelLimit: 1_000_000 },
    }),
    ...change,
  });
const accept = async (options: Parameters<typeof acceptedComparison>[0] = {}) => {
  const accepted = acceptedComparison(options);
  await bench.results.create(accepted);
  return accepted;
};
const context = (change: { lastAttempt?: boolean; signal?: AbortSignal } = {}) => ({
  lastAttempt: false,
  signal: new AbortController().signal,
  ...change,
});
const saved = async ({ comparison }: StoredComparison) => (await bench.results.get(comparison.id))?.comparison;

describe('a comparison job', () => {
  it('saves finding, heatmaps and times, and queues a delivery', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/', createdAt: Date.now() - 500 });
    const { pipeline, calls } = scriptedPipeline();
    const outcome = await processor({ pipeline }).process(jobOf(accepted), context());
    const comparison = await saved(accepted);
    expect(outcome).toEqual({ kind: 'finished', comparison });
    expect(comparison).toMatchObject({ status: 'finished', caption: 'a parcel appeared', verdict: 'change' });
    expect(comparison?.timings_ms).toMatchObject({ decode: 1, encode: 2, register: 0 });
    expect(comparison?.timings_ms?.queue).toBeGreaterThanOrEqual(500);
    expect(comparison?.timings_ms?.total).toBeGreaterThanOrEqual(comparison?.timings_ms?.queue ?? Number.NaN);
    expect(calls[0]).toMatchObject({
      before: Buffer.from('a'),
      after: Buffer.from('b'),
      beforeKey: 'a'.repeat(64),
    });
    const maps = await bench.blobs.get(heatmapKey(accepted.comparison.id));
    expect(decodeHeatmapData(maps ?? new Uint8Array())).toEqual(heatmaps);
    expect(enqueued.map(({ comparison }) => comparison.status)).toEqual(['finished']);
  });

  it('asks for the share of truth of the request', async () => {
    const { pipeline, calls } = scriptedPipeline();
    for (const truth of [0.75, undefined]) {
      const { request, ...accepted } = acceptedComparison();
      const stored = { ...accepted, request: { ...request, ...(truth === undefined ? {} : { truth }) } };
      await bench.results.create(stored);
      await processor({ pipeline }).process(jobOf(stored), context());
    }
    expect(calls.map(({ truth }) => truth)).toEqual([0.75, null]);
  });

  it('without a callback queues no delivery, and without heatmaps stores none', async () => {
    const accepted = await accept();
    const { pipeline } = scriptedPipeline(async () => ({ ...output, heatmaps: null as never }));
    await processor({ pipeline }).process(jobOf(accepted), context());
    expect(enqueued).toEqual([]);
    expect(await bench.blobs.get(heatmapKey(accepted.comparison.id))).toBeUndefined();
  });

  it('is finished even if its delivery cannot be queued, which recovery does later', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/' });
    const failing = processor({
      enqueueDelivery: { ...enqueueDelivery, ofComparison: () => Promise.reject(new Error('Redis away')) },
    });
    expect(await failing.process(jobOf(accepted), context())).toMatchObject({ kind: 'finished' });
    expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(1);
  });

  it('that runs twice at the same time is saved and delivered once', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/' });
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = 0;
    const { pipeline } = scriptedPipeline(async () => {
      if (++arrived === 2) release();
      await both;
      return output;
    });
    const twice = processor({ pipeline });
    const outcomes = await Promise.all([1, 2].map(() => twice.process(jobOf(accepted), context())));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['finished', 'skipped']);
    expect(enqueued).toHaveLength(1);
    expect(await bench.blobs.get(heatmapKey(accepted.comparison.id))).toBeDefined();
  });

  it('of a final comparison does nothing', async () => {
    const accepted = await accept();
    await processor().process(jobOf(accepted), context());
    const { pipeline, calls } = scriptedPipeline();
    expect(await processor({ pipeline }).process(jobOf(accepted), context())).toEqual({
      kind: 'skipped',
      why: 'final',
    });
    expect(calls).toEqual([]);
  });
});

describe('a cancelled comparison', () => {
  it('never reaches the model', async () => {
    const accepted = await accept();
    await bench.results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'cancelled' },
    });
    const { pipeline, calls } = scriptedPipeline();
    expect(await processor({ pipeline }).process(jobOf(accepted), context())).toEqual({
      kind: 'skipped',
      why: 'cancelled',
    });
    expect(calls).toEqual([]);
  });

  it('stops a pipeline that observes the signal, and stays cancelled', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/' });
    const cancel = new AbortController();
    const { pipeline } = scriptedPipeline(async ({ signal }) => {
      await bench.results.update(accepted.comparison.id, {
        comparison: { ...accepted.comparison, status: 'cancelled' },
      });
      cancel.abort();
      signal?.throwIfAborted();
      return output;
    });
    const outcome = await processor({ pipeline }).process(jobOf(accepted), context({ signal: cancel.signal }));
    expect(outcome).toEqual({ kind: 'skipped', why: 'cancelled' });
    expect((await saved(accepted))?.status).toBe('cancelled');
    expect(enqueued).toEqual([]);
  });

  it('that is erased while the model runs leaves no heatmaps', async () => {
    const accepted = await accept();
    const { pipeline } = scriptedPipeline(async () => {
      await bench.results.erase(accepted.comparison.id);
      return output;
    });
    expect(await processor({ pipeline }).process(jobOf(accepted), context())).toEqual({
      kind: 'skipped',
      why: 'erased',
    });
    expect(await bench.blobs.get(heatmapKey(accepted.comparison.id))).toBeUndefined();
  });
});

describe('a deadline', () => {
  it('that has passed fails the comparison before the model runs', async () => {
    const accepted = await accept({ deadline: Date.now() - 1, callbackUrl: 'https://receiver.example/' });
    const { pipeline, calls } = scriptedPipeline();
    expect(await processor({ pipeline }).process(jobOf(accepted), context())).toMatchObject({
      kind: 'failed',
    });
    expect(calls).toEqual([]);
    expect((await saved(accepted))?.error).toMatchObject({
      type: expect.stringMatching('/deadline-exceeded$'),
      status: 422,
    });
    expect(enqueued).toHaveLength(1);
  });

  it('that passes while frames are fetched fails it as well', async () => {
    let now = Date.now();
    const accepted = await accept({ deadline: now + 1_000, createdAt: now });
    const { pipeline, calls } = scriptedPipeline();
    const slow = processor({
      pipeline,
      clock: () => now,
      fetchFrame: async () => {
        now += 2_000;
        return { bytes: Buffer.from('x'), ref: accepted.frames.before as never };
      },
    });
    expect(await slow.process(jobOf(accepted), context())).toMatchObject({
      kind: 'failed',
      error: { code: 'deadline-exceeded' },
    });
    expect(calls).toEqual([]);
  });
});

describe('an error', () => {
  const throwing = (error: unknown) => scriptedPipeline(() => Promise.reject(error)).pipeline;

  it('of a permanent kind is saved at the first attempt as its problem', async () => {
    const accepted = await accept();
    const error = new ScenedeltaError('image-unreadable', 'before is not an image', { field: 'before' });
    const outcome = await processor({ pipeline: throwing(error) }).process(jobOf(accepted), context());
    expect(outcome).toEqual({ kind: 'failed', error });
    expect(await saved(accepted)).toMatchObject({ status: 'failed', error: error.toProblem() });
  });

  it('of a transient kind is thrown, and the next attempt can succeed', async () => {
    const accepted = await accept();
    const { pipeline } = scriptedPipeline(
      () => Promise.reject(new ScenedeltaError('inference-failed', 'out of memory')),
      async () => output,
    );
    const twice = processor({ pipeline });
    await expect(twice.process(jobOf(accepted), context())).rejects.toMatchObject({
      code: 'inference-failed',
    });
    expect((await saved(accepted))?.status).toBe('running');
    expect(await twice.process(jobOf(accepted), context())).toMatchObject({ kind: 'finished' });
  });

  it('of a transient kind is saved at the last attempt', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/' });
    const error = new ScenedeltaError('inference-failed', 'out of memory');
    const outcome = await processor({ pipeline: throwing(error) }).process(
      jobOf(accepted),
      context({ lastAttempt: true }),
    );
    expect(outcome).toEqual({ kind: 'failed', error });
    expect(await saved(accepted)).toMatchObject({ status: 'failed', error: { status: 500 } });
    expect(enqueued).toHaveLength(1);
  });

  it('that is unexpected does not show its text to the client', async () => {
    const accepted = await accept();
    await processor({ pipeline: throwing(new TypeError('x of undefined')) }).process(
      jobOf(accepted),
      context({ lastAttempt: true }),
    );
    expect((await saved(accepted))?.error).toMatchObject({
      type: expect.stringMatching('/internal$'),
      detail: expect.not.stringContaining('undefined'),
    });
  });

  it.each([{}, null, { v: 2 }])('in the payload %j is permanent', async (payload) => {
    await expect(processor().process(payload, context())).rejects.toMatchObject({
      code: 'invalid-request',
      permanent: true,
    });
  });

  it('given up by the queue is saved once', async () => {
    const accepted = await accept({ callbackUrl: 'https://receiver.example/' });
    const error = new ScenedeltaError('inference-failed', 'the worker died');
    expect(await processor().giveUp(accepted.comparison.id, error)).toBe(true);
    expect(await processor().giveUp(accepted.comparison.id, error)).toBe(false);
    expect(await processor().giveUp('cmp_00000000000000000000000000', error)).toBe(false);
    expect((await saved(accepted))?.error?.detail).toBe('the worker died');
    expect(enqueued).toHaveLength(1);
  });
});
