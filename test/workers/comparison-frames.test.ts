/** Frames of a comparison job: fetched, stored and refused. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { createOutboundClient } from '../../src/outbound/client.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { type Received, startReceiver } from '../helpers/receiver.js';
import { type Bench, comparisonProcessor, output, scriptedPipeline, setUpBench } from '../helpers/workers.js';

let bench: Bench;
const outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 2_000 });

beforeAll(async () => {
  bench = await setUpBench();
  await bench.storeFrames();
});
beforeEach(async () => {
  await bench.redis.flushall();
});
afterAll(async () => {
  await outbound.close();
  await bench.stop();
});

const processor = (change: Parameters<typeof comparisonProcessor>[1] = {}) =>
  comparisonProcessor(bench, {
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

describe('frames of a comparison job', () => {
  const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('rest')]);
  const serving = (body: Buffer) => (_: Received, response: ServerResponse) =>
    response.setHeader('content-type', 'image/png').end(body);

  it('of a URL are fetched once and stored for the next attempt', async () => {
    const camera = await startReceiver(serving(PNG));
    const accepted = await accept({ before: { from: 'url', url: `${camera.url}/a.png` } });
    const { pipeline, calls } = scriptedPipeline(
      () => Promise.reject(new ScenedeltaError('inference-failed', 'once')),
      async () => output,
    );
    const twice = processor({ pipeline });
    await expect(twice.process(jobOf(accepted), context())).rejects.toThrow('once');
    await twice.process(jobOf(accepted), context());
    expect(camera.received).toHaveLength(1);
    expect(calls.map(({ before }) => Buffer.from(before))).toEqual([PNG, PNG]);
    const { frames } = (await bench.results.get(accepted.comparison.id)) ?? accepted;
    expect(frames.before).toMatchObject({ contentType: 'image/png', bytes: PNG.length });
    expect(await bench.blobs.get(frameKey(frames.before?.sha256 ?? ''))).toEqual(PNG);
    await camera.close();
  });

  it('of a URL with an image type but other content are url-failed', async () => {
    const camera = await startReceiver(serving(Buffer.from('<html>')));
    const accepted = await accept({ after: { from: 'url', url: camera.url } });
    const outcome = await processor().process(jobOf(accepted), context());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'url-failed', field: 'after' } });
    await camera.close();
  });

  it('that cannot be decoded are url-failed if they come from a URL, and image-unreadable if uploaded', async () => {
    const camera = await startReceiver(serving(PNG));
    const { pipeline } = scriptedPipeline(() =>
      Promise.reject(new ScenedeltaError('image-unreadable', 'truncated', { field: 'before' })),
    );
    const fetched = await accept({ before: { from: 'url', url: camera.url } });
    const uploaded = await accept();
    const both = processor({ pipeline });
    expect(await both.process(jobOf(fetched), context())).toMatchObject({
      error: { code: 'url-failed', field: 'before' },
    });
    expect(await both.process(jobOf(uploaded), context())).toMatchObject({
      error: { code: 'image-unreadable' },
    });
    await camera.close();
  });

  it('that are no longer stored are gone', async () => {
    const accepted = await accept({
      before: { from: 'stored', sha256: 'f'.repeat(64), bytes: 1, contentType: 'image/png' },
    });
    const outcome = await processor().process(jobOf(accepted), context());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'gone', field: 'before' } });
  });

  it('of S3 without an S3 service are refused', async () => {
    const accepted = await accept({ before: { from: 's3', bucket: 'b', key: 'k' } });
    const outcome = await processor().process(jobOf(accepted), context());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'url-refused', field: 'before' } });
  });
});
