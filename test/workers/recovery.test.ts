/** Recovery on real queues: it completes the steps that a crash interrupted. */
import { describe, expect, it } from '@jest/globals';
import { QUEUES } from '../../src/jobs/queues.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { setUpCamera } from '../helpers/cameras.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { CALLBACK, useQueues } from '../helpers/queues.js';

const queues = useQueues();
const { accept, deliver, open, recover, serve, statusOf } = queues;

describe('recovery', () => {
  it('queues one job for all waiting frames of a camera if their process died first', async () => {
    await setUpCamera(queues.bench, 'gate');
    const frames = [acceptedComparison({ camera: 'gate' }), acceptedComparison({ camera: 'gate' })];
    for (const [i, { request, ...rest }] of frames.entries()) {
      const turn = { camera: 'gate', capturedAt: i };
      await queues.bench.results.create({ ...rest, request: { ...request, before: null, turn } });
    }
    await recover();
    expect(await queues.bench.cameras.waitingFrames('gate')).toBe(2);
    const jobs = await open(QUEUES.live).getWaiting();
    expect(jobs.map(({ name, data }) => [name, data])).toEqual([['turn', { v: 2, camera: 'gate' }]]);
  });

  it('fails a frame whose camera was erased meanwhile', async () => {
    const { request, ...rest } = acceptedComparison({ camera: 'gone' });
    await setUpCamera(queues.bench, 'gone');
    await queues.bench.results.create({
      ...rest,
      request: { ...request, before: null, turn: { camera: 'gone', capturedAt: 1 } },
    });
    await queues.bench.cameras.erase('gone');
    await recover();
    expect((await queues.bench.results.get(rest.comparison.id))?.comparison).toMatchObject({
      status: 'failed',
      error: { status: 410, detail: 'the camera gone was erased' },
    });
  });

  it('queues a comparison that was accepted and whose process died before queueing it', async () => {
    const accepted = acceptedComparison();
    await queues.bench.results.create(accepted);
    expect(await recover(0)).toEqual({ comparisons: 0, deliveries: 0 }); // It may still be under way.
    expect(await recover()).toEqual({ comparisons: 1, deliveries: 0 });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    serve();
    await eventually(async () => expect(await statusOf(accepted.comparison.id)).toBe('finished'));
  });

  it('leaves waiting jobs alone', async () => {
    await accept();
    await accept({ queue: 'archive' });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
  });

  it('queues the delivery of a result whose worker died right after saving it', async () => {
    const accepted = acceptedComparison({ callbackUrl: CALLBACK });
    await queues.bench.results.create(accepted);
    await queues.bench.results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'failed' },
    });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 1 });
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    deliver();
    await eventually(() => expect(queues.posted).toHaveLength(1));
    await eventually(async () => expect(await queues.bench.redis.zcard(KEYS.deliveriesOpen)).toBe(0));
  });

  it('drops the delivery of an erased comparison', async () => {
    const accepted = acceptedComparison({ callbackUrl: CALLBACK });
    await queues.bench.results.create(accepted);
    await queues.bench.results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'failed' },
    });
    await queues.bench.results.erase(accepted.comparison.id);
    expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
    expect(await queues.bench.redis.zcard(KEYS.deliveriesOpen)).toBe(0);
  });
});
