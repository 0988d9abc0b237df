/** Fetches on real queues: frames that are given by an address hold no slot of the comparisons. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Job } from 'bullmq';
import { newId } from '../../src/base/ids.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { storeFrame } from '../../src/frames/keep.js';
import { enqueueFrame } from '../../src/jobs/enqueue-frame.js';
import { QUEUES } from '../../src/jobs/queues.js';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import type { FrameRef } from '../../src/schemas/frame-ref.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { picture, pixelPipeline, RED, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { useQueues } from '../helpers/queues.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';

const queues = useQueues();
let outbound: OutboundClient;
/** sixteen hosts that answer once they are released */
let hosts: Receiver[];
let release: () => void;
let released: Promise<void>;
let frame: Buffer;

beforeAll(async () => {
  frame = await picture();
  outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 60_000 });
  hosts = await Promise.all(
    Array.from({ length: 16 }, () =>
      startReceiver(async (_request, response) => {
        await released;
        response.setHeader('content-type', 'image/png').end(frame);
      }),
    ),
  );
  hang();
});
const hang = () => {
  released = new Promise((resolve) => {
    release = resolve;
  });
};
// The workers wait for running fetches when they close.
afterEach(() => {
  release();
  hang();
  for (const host of hosts) host.received.length = 0;
});
afterAll(async () => {
  await outbound.close();
  await Promise.all(hosts.map((host) => host.close()));
});

const fetchFrame = () =>
  createFrameFetcher({
    ...queues.bench,
    outbound,
    s3: undefined,
    config: { frameLimit: 100_000, pixelLimit: 1_000_000 },
  });
const serve = (pipeline = pixelPipeline().pipeline) => {
  const fetcher = fetchFrame();
  const turns = turnProcessor(queues.bench, { fetchFrame: fetcher, queue: queues.producer });
  return queues.serve(pipeline, { fetchFrame: fetcher, turns });
};
const asked = () => hosts.reduce((sum, { received }) => sum + received.length, 0);
const urlOf = (host: number): FrameRef => ({ from: 'url', url: `${hosts[host]?.url}/frame.png` });
const accept = async (options: Parameters<typeof acceptedComparison>[0], apiKeyId = 'key_test') => {
  const accepted = acceptedComparison(options);
  await queues.bench.results.create({ ...accepted, request: { ...accepted.request, apiKeyId, owner: apiKeyId } });
  const fetch = [accepted.request.before, accepted.request.after].some((ref) => ref?.from === 'url');
  await queues.producer.addComparison(jobOf(accepted), { fetch });
  return accepted.comparison.id;
};
const uploaded = async (bytes = frame): Promise<FrameRef> => {
  return (await storeFrame(queues.bench.blobs, { bytes, contentType: 'image/png' })).ref;
};
const acceptFrame = async (camera: StoredCamera, ref: FrameRef, capturedAt: number) => {
  const comparisonId = newId('cmp');
  const now = Date.now();
  await enqueueFrame(
    camera,
    {
      comparisonId,
      traceId: '0'.repeat(32),
      apiKeyId: `key_${camera.id}`,
      owner: `key_${camera.id}`,
      frame: ref,
      capturedAt,
      acceptedAt: now,
      deadline: null,
      callbackUrl: null,
    },
    { ...queues.bench, queue: queues.producer },
  );
  return comparisonId;
};
const finished = (ids: readonly string[]) =>
  eventually(async () => {
    for (const id of ids) expect(await queues.statusOf(id)).toBe('finished');
  }, 30_000);

describe('sixteen addresses that hang', () => {
  it('do not stop uploads, which are finished while they hang', async () => {
    serve();
    const ref = await uploaded();
    const hanging = await Promise.all(hosts.map((_, i) => accept({ before: ref, after: urlOf(i) }, `key_${i}`)));
    await eventually(() => expect(asked()).toBe(16));
    await finished([await accept({ before: ref, after: ref })]);
    const gate = await setUpCamera(queues.bench, 'gate');
    await finished([await acceptFrame(gate, ref, 1)]);
    for (const id of hanging) expect(await queues.statusOf(id)).toBe('running');
    release();
    await finished(hanging);
    expect(asked()).toBe(16);
  });

  it('of cameras do not stop uploads either', async () => {
    serve();
    const ref = await uploaded();
    const hanging = await Promise.all(
      hosts.map(async (_, i) => acceptFrame(await setUpCamera(queues.bench, `cam-${i}`), urlOf(i), 1)),
    );
    await eventually(() => expect(asked()).toBe(16));
    const gate = await setUpCamera(queues.bench, 'gate');
    await finished([await acceptFrame(gate, ref, 1), await accept({ before: ref, after: ref })]);
    for (const id of hanging) expect(await queues.statusOf(id)).toBe('running');
    release();
    await finished(hanging);
  });

  it('of one key hold a part of the fetches: the others of the key wait, and another key is served', async () => {
    serve();
    const ref = await uploaded();
    const before = asked();
    const hanging = await Promise.all(hosts.map((_, i) => accept({ before: ref, after: urlOf(i) })));
    await eventually(async () => expect((await queues.producer.counts()).fetch.delayed).toBeGreaterThan(0));
    expect(asked() - before).toBeLessThan(16);
    const quick = await startReceiver((_request, response) => {
      response.setHeader('content-type', 'image/png').end(frame);
    });
    const after = { from: 'url', url: quick.url } as const;
    await finished([await accept({ before: ref, after }, 'key_other')]);
    release();
    await finished(hanging);
    await quick.close();
  });
});

describe("a camera's frame that is fetched", () => {
  it('keeps its place among the frames of the camera', async () => {
    serve();
    const camera = await setUpCamera(queues.bench, 'gate');
    const car = await picture({ things: [[60, 30, 12, 10, RED]] });
    const first = await acceptFrame(camera, urlOf(0), 1);
    await eventually(() => expect(asked()).toBe(1));
    const ref = await uploaded(car);
    const second = await acceptFrame(camera, ref, 2);
    const third = await acceptFrame(camera, urlOf(1), 3);
    // An upload of another camera is finished meanwhile, so the second frame could have been.
    const other = await setUpCamera(queues.bench, 'other');
    await finished([await acceptFrame(other, ref, 1)]);
    expect(await queues.statusOf(second)).toBe('queued');
    release();
    await finished([first, second, third]);
    const verdicts = await Promise.all(
      [first, second, third].map(async (id) => (await queues.bench.results.get(id))?.comparison.verdict),
    );
    // The second is not confirmed by the third, which shows what the first showed.
    expect(verdicts).toEqual(['none', 'change', 'none']);
    expect(await queues.bench.cameras.state('gate')).toMatchObject({ frames: 3 });
  });
});

describe('a fetch', () => {
  it('whose worker dies is repeated by another, and the comparison is finished once', async () => {
    serve();
    const ref = await uploaded();
    const id = await accept({ before: ref, after: urlOf(0) });
    await eventually(() => expect(asked()).toBe(1));
    // For the queue, a job without a lock has lost its worker.
    await queues.bench.redis.del(`${queues.open(QUEUES.fetch).toKey(id)}:lock`);
    await eventually(() => expect(asked()).toBe(2));
    release();
    await finished([id]);
    expect(await queues.finishedEvents()).toBe(1);
  });

  it("of a camera's frame whose worker dies is repeated by another", async () => {
    serve();
    const camera = await setUpCamera(queues.bench, 'gate');
    const id = await acceptFrame(camera, urlOf(0), 1);
    await eventually(() => expect(asked()).toBe(1));
    const queue = queues.open(QUEUES.fetch);
    const [job] = (await queue.getActive()) as Job[];
    await queues.bench.redis.del(`${queue.toKey(String(job?.id))}:lock`);
    await eventually(() => expect(asked()).toBe(2));
    release();
    await finished([id]);
    expect(await queues.bench.cameras.state('gate')).toMatchObject({ frames: 1 });
  });

  it('that was lost by the queue is recovered into the queue of fetches', async () => {
    const accepted = acceptedComparison({ after: urlOf(0) });
    await queues.bench.results.create(accepted);
    await queues.recover();
    expect((await queues.producer.counts()).fetch.prioritized).toBe(1);
  });

  it('ends when its comparison is cancelled', async () => {
    let closed = false;
    const host = await startReceiver((_request, response) =>
      response.on('close', () => {
        closed = true;
      }),
    );
    serve();
    const id = await accept({ before: await uploaded(), after: { from: 'url', url: host.url } });
    await host.count(1);
    const stored = await queues.bench.results.get(id);
    if (stored === undefined) throw new Error('not stored');
    await queues.bench.results.update(id, { comparison: { ...stored.comparison, status: 'cancelled' } });
    await queues.bench.redis.publish(KEYS.cancellations, id);
    await eventually(() => expect(closed).toBe(true));
    await eventually(async () => expect((await queues.producer.counts()).fetch.active).toBe(0));
    expect(await queues.statusOf(id)).toBe('cancelled');
    await host.close();
  });

  it('is not begun after the deadline', async () => {
    const id = await accept({ after: urlOf(0), deadline: Date.now() - 1 });
    serve();
    await eventually(async () => expect(await queues.statusOf(id)).toBe('failed'));
    expect((await queues.bench.results.get(id))?.comparison.error?.type).toMatch(/deadline-exceeded$/);
    expect(asked()).toBe(0);
  });

  it('that fails fails the comparison, and counts', async () => {
    serve();
    const before = await queues.counted('live', 'url-failed');
    const missing = await startReceiver((_request, response) => response.writeHead(404).end());
    const id = await accept({ after: { from: 'url', url: missing.url } });
    await eventually(async () => expect(await queues.statusOf(id)).toBe('failed'));
    await eventually(async () => expect(await queues.counted('live', 'url-failed')).toBe(before + 1));
    await missing.close();
  });
});
