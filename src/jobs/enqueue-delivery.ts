/**
 * From an ended comparison or an alert to its queued deliveries: the one place at which alerts leave the service. Every
 * step is idempotent, because recovery repeats it after a crash.
 */
import { ScenedeltaError } from '../base/errors.js';
import { deliveryIdOf, endpointDeliveryIdOf, newId, newTraceId } from '../base/ids.js';
import { originAndPath } from '../base/redact-url.js';
import { comparisonMessage } from '../endpoints/comparison-message.js';
import { countedThing } from '../endpoints/digest.js';
import { wantsMessage } from '../endpoints/filter.js';
import { endsSubject, type Message } from '../schemas/message.js';
import type { StoredMessage } from '../stores/changes/change-writes.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { StoredComparison } from '../stores/comparisons/results.js';
import type { DeliveryStore, NewDelivery } from '../stores/delivery/deliveries.js';
import type { EndpointRecord, EndpointStore } from '../stores/delivery/endpoints.js';
import type { LimitedMessage } from '../stores/delivery/message-limits.js';
import type { DeliveryJob } from './payloads.js';
import type { JobProducer } from './producer.js';

export type EnqueueDelivery = ReturnType<typeof createEnqueueDelivery>;

export function createEnqueueDelivery(deps: {
  deliveries: Pick<DeliveryStore, 'create' | 'forget'>;
  endpoints: Pick<EndpointStore, 'all' | 'limits'>;
  queue: Pick<JobProducer, 'addDelivery'>;
  /** called for each message that the limit of an endpoint holds back; absent: none is counted */
  heldBack?: (camera: string) => void;
}) {
  const { deliveries, queue } = deps;
  const enqueue = async (
    created: readonly NewDelivery[],
    ids: Pick<DeliveryJob, 'traceId' | 'owner'>,
    alertId?: string,
  ): Promise<void> => {
    await deliveries.create(created, alertId);
    for (const { id } of created) await queue.addDelivery({ deliveryId: id, ...ids });
  };
  const wanting = async (message: Message): Promise<EndpointRecord[]> =>
    (await deps.endpoints.all()).filter(({ settings, stopped }) => stopped === null && wantsMessage(settings, message));
  /** The endpoints that get an alert: those that want it, as far as their limits let it pass. */
  const receivers = async ({ message, endpoint: only }: StoredMessage): Promise<EndpointRecord[]> => {
    if (only !== undefined) return (await deps.endpoints.all()).filter(({ id }) => id === only);
    const passing: EndpointRecord[] = [];
    for (const endpoint of await wanting(message)) {
      const { limit } = endpoint.settings;
      if (limit == null || !isLimited(message)) passing.push(endpoint);
      else if (await deps.endpoints.limits.take(endpoint.id, limit, limited(message))) passing.push(endpoint);
      else deps.heldBack?.(message.camera);
    }
    return passing;
  };
  return {
    /** One delivery to the callback, if there is one; a camera's pair has one to each endpoint that wants it. */
    ofComparison: async ({ comparison, request }: StoredComparison): Promise<void> => {
      const { callbackUrl, traceId } = request;
      const { id } = comparison;
      const { subject } = comparisonMessage(comparison);
      const pair = request.byCamera === true ? comparisonMessage(comparison, 'pair.compared') : null;
      const all = [
        ...(callbackUrl === null
          ? []
          : [{ id: deliveryIdOf(id), comparison: id, subject, url: loggedUrl(callbackUrl) }]),
        ...(pair === null ? [] : (await wanting(pair)).map((endpoint) => endpointDelivery(pair, id, endpoint))),
      ];
      if (all.length > 0) await enqueue(all, { traceId, owner: request.owner });
      if (callbackUrl === null && request.byCamera === true) await deliveries.forget(deliveryIdOf(id));
    },
    /** One delivery to the callback of the camera, if there is one, and one to each endpoint that gets the alert. */
    ofAlert: async (alert: StoredMessage): Promise<void> => {
      const { message, comparisonId, url, traceId } = alert;
      const callback = { id: deliveryIdOf(message.id), comparison: comparisonId, subject: message.subject };
      const all = [
        ...(url === null ? [] : [{ ...callback, url: loggedUrl(url) }]),
        ...(await receivers(alert)).map((endpoint) => endpointDelivery(message, comparisonId, endpoint)),
      ];
      await enqueue(all, { traceId }, message.id);
      // The alert itself was open under this id until its deliveries were.
      if (url === null) await deliveries.forget(callback.id);
    },
    /** @returns the id of the delivery of a test event */
    ofTest: async ({ id: endpoint, shownUrl }: EndpointRecord, now: number): Promise<string> => {
      const id = newId('dlv', now);
      await enqueue([{ id, endpoint, event: 'endpoint.test', url: shownUrl }], { traceId: newTraceId() });
      return id;
    },
  };
}

/** A message about the health of a camera is rare, and nothing that people may miss. */
const isLimited = ({ type }: Message): boolean => !type.startsWith('camera.');
const limited = (message: Message): LimitedMessage => {
  const { id, type, camera, subject, at } = message;
  return { id, camera, subject: subject.id, ends: endsSubject(type), at, ...countedThing(message) };
};

/** @param comparison id of the one that caused the message */
const endpointDelivery = (
  message: Message,
  comparison: string,
  { id, shownUrl }: Pick<EndpointRecord, 'id' | 'shownUrl'>,
): NewDelivery => ({
  id: endpointDeliveryIdOf(message, id),
  comparison,
  subject: message.subject,
  ...(message.subject.kind !== 'comparison' && { alert: message.id }),
  endpoint: id,
  event: message.type,
  url: shownUrl,
});

/**
 * Delivers once more.
 * @returns whether there is such a delivery
 */
export async function resendDelivery(
  id: string,
  deps: {
    readonly deliveries: Pick<DeliveryStore, 'resend'>;
    readonly queue: Pick<JobProducer, 'addDelivery' | 'forget'>;
  },
): Promise<boolean> {
  if (!(await deps.deliveries.resend(id))) return false;
  // The ended job of the delivery may still be kept under the same id.
  await deps.queue.forget('delivery', id);
  await deps.queue.addDelivery({ deliveryId: id, traceId: newTraceId() });
  return true;
}

/** Alerts that are read at a time. */
const RECOVERED_AT_ONCE = 500;

/**
 * Sends an endpoint the alerts that it wants and has not received: those that failed, and those that were made while
 * it was stopped, disabled or not there yet. A second call goes on after one that was interrupted.
 * @param since time from which alerts were made, epoch ms
 * @returns number of deliveries
 */
export async function recoverEndpoint(
  endpoint: EndpointRecord,
  since: number,
  deps: {
    readonly changes: Pick<ChangeStore, 'alertsSince' | 'alert'>;
    readonly deliveries: Pick<DeliveryStore, 'create' | 'get' | 'resend'>;
    readonly endpoints: Pick<EndpointStore, 'limits'>;
    readonly queue: Pick<JobProducer, 'addDelivery' | 'forget'>;
  },
): Promise<{ queued: number }> {
  let queued = 0;
  for await (const ids of deps.changes.alertsSince(since, RECOVERED_AT_ONCE)) {
    const alerts = await Promise.all(ids.map((id) => deps.changes.alert(id)));
    const wanted = alerts.flatMap((alert) =>
      alert !== undefined && wantsMessage(endpoint.settings, alert.message) ? [alert] : [],
    );
    const deliveries = wanted.map(({ message, comparisonId }) => endpointDelivery(message, comparisonId, endpoint));
    const earlier = await Promise.all(deliveries.map(({ id }) => deps.deliveries.get(id)));
    // One after the other, because the end of a change must not arrive before its beginning.
    for (const [i, delivery] of deliveries.entries()) {
      const state = earlier[i]?.state;
      if (state === 'delivered' || state === 'pending') continue;
      if (await deps.endpoints.limits.isHeldBack(endpoint.id, wanted[i]?.message.id ?? '')) continue;
      if (state === undefined) {
        await deps.deliveries.create([delivery]);
        await deps.queue.addDelivery({ deliveryId: delivery.id, traceId: wanted[i]?.traceId ?? newTraceId() });
      } else await resendDelivery(delivery.id, deps);
      queued++;
    }
  }
  return { queued };
}

/** The URL as the delivery log shows it: without the query and the credentials, which may contain a token. */
function loggedUrl(url: string): string {
  if (!URL.canParse(url)) {
    throw new ScenedeltaError('internal', 'a callback URL that was accepted cannot be parsed');
  }
  return originAndPath(url);
}
