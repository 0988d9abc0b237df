/** The content of a delivery: a message with its payload, for a callback or for an endpoint. */

import { alertIdOf, deliveryIdOf, endpointDeliveryIdOf, timeOf } from '../../base/ids.js';
import { comparisonMessage } from '../../endpoints/comparison-message.js';
import { type EndpointMessage, testMessage } from '../../endpoints/message.js';
import { payloadOf } from '../../endpoints/payload.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import type { CameraEvent } from '../../schemas/change.js';
import type { Delivery } from '../../schemas/delivery.js';
import type { Message } from '../../schemas/message.js';
import type { LinkSettings } from '../../secrets/links.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { StoredMessage } from '../../stores/changes/change-writes.js';
import type { ChangeStore } from '../../stores/changes/changes.js';
import type { ComparisonRequest, ResultStore } from '../../stores/comparisons/results.js';
import type { DeliveryStore } from '../../stores/delivery/deliveries.js';

export interface MessageDependencies {
  readonly deliveries: Pick<DeliveryStore, 'get'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly changes: Pick<ChangeStore, 'alert' | 'alertsAfter'>;
  readonly cameras: Pick<CameraStore, 'get'>;
  readonly links: LinkSettings;
}

export interface DeliveredMessage {
  /** of the request that caused it; absent: a test that a person asked for */
  readonly trace?: Pick<ComparisonRequest, 'traceId' | 'traceparent'>;
  /** of the callback, with query and credentials; null: an endpoint receives it */
  readonly url: string | null;
  /** in English; `locale` is that of the camera */
  readonly message: Omit<EndpointMessage, 'now'>;
  /** a later alert, which contains this one, has been delivered to the same receiver */
  readonly overtaken: boolean;
  /** input of the change reducer for the end of the delivery; undefined if no cool-down depends on it */
  readonly cameraEvent: (
    state: 'delivered' | 'failed' | 'overtaken',
  ) => { camera: string; event: Extract<CameraEvent, { alertId: string }> } | undefined;
}

/** @returns undefined if the comparison or the message has been erased. */
export async function messageOf(delivery: Delivery, deps: MessageDependencies): Promise<DeliveredMessage | undefined> {
  const { id, subject, event, endpoint } = delivery;
  if (event === 'endpoint.test') return delivered(testMessage(id, timeOf(id)), { url: null }, deps);
  if (subject?.kind === 'comparison') {
    const stored = await deps.results.get(subject.id);
    if (stored === undefined) return undefined;
    const { callbackUrl, ...trace } = stored.request;
    if (endpoint === undefined && callbackUrl === null) return undefined;
    const message = comparisonMessage(stored.comparison, event === 'pair.compared' ? event : undefined);
    return delivered(message, { url: endpoint === undefined ? callbackUrl : null, trace }, deps);
  }
  const alert = await deps.changes.alert(delivery.alert ?? alertIdOf(id));
  if (alert === undefined || (endpoint === undefined && alert.url === null)) return undefined;
  const { message, cooldown } = alert;
  return {
    ...(await delivered(message, { url: endpoint === undefined ? alert.url : null, trace: alert }, deps)),
    overtaken: await isOvertaken(delivery, message, deps),
    cameraEvent: (state) =>
      cooldown && {
        camera: message.camera,
        event: { type: `alert.${state}`, alertId: message.id, ...cooldown },
      },
  };
}

async function delivered(
  message: Message,
  receiver: Pick<DeliveredMessage, 'url' | 'trace'>,
  { cameras, results, links }: MessageDependencies,
): Promise<DeliveredMessage> {
  const { camera, picture, type } = message;
  const isTest = type === 'endpoint.test';
  const settings = isTest || camera === '' ? undefined : (await cameras.get(camera))?.settings;
  const finished = picture && (await results.get(picture.comparison))?.comparison.finished_at;
  const { baseUrl } = links;
  return {
    ...receiver,
    message: {
      ...message,
      payload: payloadOf(message, finished == null ? null : { ...links, keptSince: Date.parse(finished) }),
      locale: settings?.locale ?? DEFAULT_LOCALE,
      cameraName: isTest ? 'scenedelta' : (settings?.name ?? camera),
      timeZone: settings?.schedule?.timezone ?? 'UTC',
      baseUrl,
    },
    overtaken: false,
    cameraEvent: () => undefined,
  };
}

/**
 * An alert that arrives after a later one of its change would report an outdated state; the later one contained the
 * whole change. Holding the later one back instead could delay it for days if the receiver refuses one alert.
 */
async function isOvertaken(
  { endpoint, event, resent_after }: Delivery,
  { subject, at }: StoredMessage['message'],
  { changes, deliveries }: MessageDependencies,
): Promise<boolean> {
  // A person who asks for it again wants it as it was; a package or a brief is no state that a later one replaces.
  if (resent_after !== undefined || event === 'evidence.package' || event === 'brief.daily') return false;
  const deliveryOf = async (id: string): Promise<Delivery | undefined> => {
    if (endpoint === undefined) return deliveries.get(deliveryIdOf(id));
    const later = (await changes.alert(id))?.message;
    return later && deliveries.get(endpointDeliveryIdOf(later, endpoint));
  };
  const found = await Promise.all((await changes.alertsAfter(subject.id, at)).map(deliveryOf));
  return found.some((delivery) => delivery?.state === 'delivered');
}
