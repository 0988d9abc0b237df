/** A delivery that two workers had in turn: an answer that the earlier one records late is not asked for again. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { type DeliveryJob, jobPayload } from '../../src/jobs/payloads.js';
import { createDeliveryProcessor } from '../../src/workers/deliveries/delivery-job.js';
import { createDeliveryLimits } from '../../src/workers/deliveries/delivery-limits.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { partial } from '../helpers/partial.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
afterAll(() => bench.stop());

it('A worker that has taken a delivery over looks at its log last of all', async () => {
  const accepted = acceptedComparison({ callbackUrl: 'https://user.example/hook' });
  await bench.results.create(accepted);
  const comparison = finished(accepted.comparison);
  await bench.results.update(comparison.id, { comparison });
  const jobs: DeliveryJob[] = [];
  const queue = { addDelivery: async (ids: Omit<DeliveryJob, 'v'>) => void jobs.push(jobPayload(ids)) };
  await createEnqueueDelivery({ ...bench, queue }).ofComparison({ ...accepted, comparison });
  const [job] = jobs;
  if (job === undefined) throw new Error('no delivery is queued');

  let posts = 0;
  const processor = createDeliveryProcessor(
    partial<Parameters<typeof createDeliveryProcessor>[0]>({
      ...bench,
      ...{ logger, clock: Date.now, random: () => 0.5, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
      links: { baseUrl: '', key: Buffer.alloc(32), framesMs: 0, heatmapsMs: 0 },
      limits: createDeliveryLimits(Date.now),
      outbound: partial<Parameters<typeof createDeliveryProcessor>[0]['outbound']>({
        post: async () => {
          posts += 1;
          return { status: 200, error: null, retryAfterMs: null, permanent: false };
        },
      }),
    }),
  );
  const attempt = { attempt: 1, at: new Date().toISOString(), status: 200, error: null, duration_ms: 5 };
  const recordsMeanwhile = async () => {
    await bench.deliveries.record(job.deliveryId, attempt, 'delivered', null);
    return true;
  };
  expect(await processor.process(job, recordsMeanwhile)).toMatchObject({ kind: 'later' });
  expect(posts).toBe(0);
  expect((await bench.deliveries.get(job.deliveryId))?.attempts).toEqual([attempt]);
});
