/** From an ended comparison, or an alert, to its queued delivery. Every step may be repeated: recovery does, after a crash in between. */
import type { DeliveryJob } from '../jobs/payloads.js';
import type { StoredAlert } from '../stores/changes.js';
import { alertDeliveryId } from '../stores/changes.js';
import type { DeliveryStore } from '../stores/deliveries.js';
import type { StoredComparison } from '../stores/results.js';
import { deliveryIdOf } from '../stores/results.js';
import { loggedUrl } from './delivery-job.js';

export type Announce = (stored: StoredComparison) => Promise<void>;
export type AnnounceAlert = (alert: StoredAlert) => Promise<void>;

interface AnnounceDependencies {
  readonly deliveries: DeliveryStore;
  /** adds the job with the delivery's id as its own, so that adding it again changes nothing */
  readonly enqueue: (job: DeliveryJob) => Promise<void>;
}

export function createAnnounceAlert(deps: AnnounceDependencies): AnnounceAlert {
  return async ({ intent, comparisonId, url, traceId, apiKeyId }) => {
    const deliveryId = alertDeliveryId(intent.id);
    await deps.deliveries.create({
      id: deliveryId,
      comparison: comparisonId,
      change: intent.change.id,
      url: loggedUrl(url),
      state: 'pending',
      next_attempt_at: null,
      attempts: [],
    });
    await deps.enqueue({ v: 1, deliveryId, comparisonId, alertId: intent.id, traceId, url, apiKeyId });
  };
}

export function createAnnounce(deps: AnnounceDependencies): Announce {
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
