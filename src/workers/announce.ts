/** From an ended comparison to its queued delivery. Every step may be repeated: recovery does, after a crash in between. */
import type { DeliveryJob } from '../jobs.js';
import type { DeliveryStore } from '../stores/deliveries.js';
import type { StoredComparison } from '../stores/results.js';
import { deliveryIdOf } from '../stores/results-redis.js';
import { loggedUrl } from './delivery-job.js';

export type Announce = (stored: StoredComparison) => Promise<void>;

/** @param enqueue adds the job with the delivery's id as its own, so that adding it again changes nothing. */
export function createAnnounce(deps: {
  deliveries: DeliveryStore;
  enqueue: (job: DeliveryJob) => Promise<void>;
}): Announce {
  return async ({ comparison, job }) => {
    if (job.callbackUrl === null) return;
    const deliveryId = deliveryIdOf(comparison.id);
    await deps.deliveries.create({
      id: deliveryId,
      comparison: comparison.id,
      url: loggedUrl(job.callbackUrl),
      state: 'pending',
      next_attempt_at: null,
      attempts: [],
    });
    await deps.enqueue({
      v: 1,
      deliveryId,
      comparisonId: comparison.id,
      traceId: job.traceId,
      url: job.callbackUrl,
      apiKeyId: job.apiKeyId,
    });
  };
}
