/**
 * From an ended comparison or an alert to its queued delivery. Every step is idempotent, because recovery repeats it
 * after a crash.
 */
import { ScenedeltaError } from '../errors.js';
import { deliveryIdOf } from '../ids.js';
import type { JobProducer } from '../jobs/producer.js';
import type { StoredAlert } from '../stores/change-writes.js';
import type { Delivery, DeliveryStore } from '../stores/deliveries.js';
import type { StoredComparison } from '../stores/results.js';

export type EnqueueDelivery = ReturnType<typeof createEnqueueDelivery>;

export function createEnqueueDelivery(deps: {
  deliveries: Pick<DeliveryStore, 'create'>;
  queue: Pick<JobProducer, 'addDelivery'>;
}) {
  const enqueue = async (
    delivery: Pick<Delivery, 'id' | 'comparison' | 'change'>,
    url: string,
    traceId: string,
  ): Promise<void> => {
    await deps.deliveries.create({
      ...delivery,
      url: loggedUrl(url),
      state: 'pending',
      next_attempt_at: null,
      attempts: [],
    });
    await deps.queue.addDelivery({ deliveryId: delivery.id, traceId });
  };
  return {
    /** Does nothing if the comparison has no callback. */
    ofComparison: async ({ comparison: { id }, request }: StoredComparison): Promise<void> => {
      const { callbackUrl, traceId } = request;
      if (callbackUrl !== null) await enqueue({ id: deliveryIdOf(id), comparison: id }, callbackUrl, traceId);
    },
    ofAlert: ({ intent: { id, change }, comparisonId, url, traceId }: StoredAlert): Promise<void> =>
      enqueue({ id: deliveryIdOf(id), comparison: comparisonId, change: change.id }, url, traceId),
  };
}

/** The URL as the delivery log shows it: without the query and the credentials, which may contain a token. */
function loggedUrl(url: string): string {
  if (!URL.canParse(url)) {
    throw new ScenedeltaError('internal', 'a callback URL that was accepted cannot be parsed');
  }
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
