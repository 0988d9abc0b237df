/**
 * Jobs of payload version 1 that an upgrade finds in the queues: release 0.7.0 wrote copies of the record into them.
 */
import { describe, expect, it } from '@jest/globals';
import { deliveryIdOf } from '../../src/base/ids.js';
import { QUEUES, TURN_JOB } from '../../src/jobs/queues.js';
import type { WorkedFrame } from '../../src/workers/camera-turn.js';
import { picture, sendFrame, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { CALLBACK, useQueues } from '../helpers/queues.js';

const queues = useQueues();
const { deliver, open, serve, statusOf } = queues;

/** The record as version 1 wrote it, and the equal payload of its job. */
const version1 = async () => {
  const { comparison, frames, request } = acceptedComparison({ callbackUrl: CALLBACK });
  const job = { v: 1, comparisonId: comparison.id, ...request };
  await queues.bench.results.create({ comparison, frames, request: job });
  return { id: comparison.id, job };
};

describe('a job of version 1', () => {
  it('of a comparison is finished and delivered', async () => {
    const { id, job } = await version1();
    await open(QUEUES.live).add('compare', job, { jobId: id });
    serve();
    deliver();
    await eventually(() => expect(queues.posted).toEqual([deliveryIdOf(id)]));
    expect(await statusOf(id)).toBe('finished');
  });

  it('of a delivery is sent to the callback of the record', async () => {
    const { id, job } = await version1();
    const { bench } = queues;
    const stored = await bench.results.get(id);
    if (stored === undefined) throw new Error('it is stored');
    await bench.results.update(id, { comparison: { ...stored.comparison, status: 'failed' } });
    const deliveryId = deliveryIdOf(id);
    await bench.deliveries.create([{ id: deliveryId, comparison: id, url: CALLBACK }]);
    const { traceId, apiKeyId } = job;
    const payload = { v: 1, deliveryId, comparisonId: id, traceId, url: CALLBACK, apiKeyId };
    await open(QUEUES.delivery).add('deliver', payload, { jobId: deliveryId });
    deliver();
    await eventually(async () => expect((await bench.deliveries.get(deliveryId))?.state).toBe('delivered'));
    expect(queues.posted).toEqual([deliveryId]);
  });

  it('of a turn takes the earliest waiting frame', async () => {
    const { bench } = queues;
    const camera = await setUpCamera(bench, 'gate');
    const id = await sendFrame(bench, camera, await picture(), Date.now());
    const job = await open(QUEUES.live).add(TURN_JOB, { v: 1, camera: 'gate' });
    const worked: WorkedFrame[] = [];
    await turnProcessor(bench).process(job.data, { job: String(job.id), onFrame: (frame) => worked.push(frame) });
    expect(worked).toMatchObject([{ outcome: { kind: 'finished', comparison: { id } } }]);
  });
});
