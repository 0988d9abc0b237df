/** The content of a delivery: the payload of a comparison or an alert, for a callback or for an endpoint. */

import { alertIdOf, deliveryIdOf, endpointDeliveryIdOf, timeOf } from '../../base/ids.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type EndpointMessage, testAlert } from '../../endpoints/message.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE, translated } from '../../language/translate.js';
import type { CameraEvent } from '../../schemas/change.js';
import type { Delivery } from '../../schemas/delivery.js';
import {
  buildAlertPayload,
  buildSignalPayload,
  buildVisitPayload,
  buildWebhookPayload,
  type WebhookLinks,
  type WebhookPayload,
} from '../../schemas/webhook-payload.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import { type StoredMessage, subjectOf } from '../../stores/changes/change-writes.js';
import type { ChangeStore } from '../../stores/changes/changes.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../../stores/comparisons/results.js';
import type { DeliveryStore } from '../../stores/delivery/deliveries.js';

export interface MessageDependencies {
  readonly deliveries: Pick<DeliveryStore, 'get'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly changes: Pick<ChangeStore, 'alert' | 'alertsAfter' | 'get'>;
  readonly cameras: Pick<CameraStore, 'get'>;
  readonly links: WebhookLinks;
}

export interface Message {
  /** of the request that caused it; absent: a test that a person asked for */
  readonly trace?: Pick<ComparisonRequest, 'traceId' | 'traceparent'>;
  /** of the callback, with query and credentials; null: an endpoint receives it */
  readonly url: string | null;
  readonly payload: WebhookPayload | EndpointMessage['payload'];
  /** for the formats of endpoints; undefined: a comparison that is no round, which only callbacks receive */
  readonly forEndpoint?: Omit<EndpointMessage, 'now'>;
  /** a later alert, which contains this one, has been delivered to the same receiver */
  readonly overtaken: boolean;
  /** input of the change reducer for the end of the delivery; undefined if no cool-down depends on it */
  readonly cameraEvent: (
    state: 'delivered' | 'failed' | 'overtaken',
  ) => { camera: string; event: Extract<CameraEvent, { alertId: string }> } | undefined;
}

/** @returns undefined if the comparison or change has been erased. */
export async function messageOf(delivery: Delivery, deps: MessageDependencies): Promise<Message | undefined> {
  if (delivery.event === 'endpoint.test') return testMessage(delivery, deps);
  if ((delivery.change ?? delivery.visit ?? delivery.camera) !== undefined) return alertMessage(delivery, deps);
  const stored = await deps.results.get(delivery.comparison ?? '');
  if (stored === undefined) return undefined;
  if (delivery.event === 'round.compared') return roundMessage(stored, deps);
  if (stored.request.callbackUrl === null) return undefined;
  const { camera } = stored.comparison;
  const locale = camera === null ? DEFAULT_LOCALE : await localeOf(camera, deps);
  const payload = buildWebhookPayload(translated(stored.comparison, locale), deps.links);
  const { callbackUrl: url, ...trace } = stored.request;
  return { url, trace, payload, overtaken: false, cameraEvent: () => undefined };
}

async function roundMessage({ comparison, request }: StoredComparison, deps: MessageDependencies): Promise<Message> {
  const { id, camera } = comparison;
  const settings = (await deps.cameras.get(camera ?? ''))?.settings;
  const locale = settings?.locale ?? DEFAULT_LOCALE;
  const round = translated(comparison, locale);
  const payload = buildWebhookPayload(round, deps.links, 'round.compared');
  const forEndpoint = endpointMessage(payload, { id, name: settings?.name ?? camera ?? '', settings }, deps.links);
  return { ...{ url: null, trace: request, payload, forEndpoint, overtaken: false }, cameraEvent: () => undefined };
}

async function alertMessage(delivery: Delivery, deps: MessageDependencies): Promise<Message | undefined> {
  const alert = await deps.changes.alert(delivery.alert ?? alertIdOf(delivery.id));
  if (alert === undefined || (delivery.endpoint === undefined && alert.url === null)) return undefined;
  const { intent } = alert;
  if ('change' in intent && (await deps.changes.get(intent.change.id)) === undefined) return undefined;
  const { camera } = 'signal' in intent ? intent.signal : 'visit' in intent ? intent.visit : intent.change;
  const settings = (await deps.cameras.get(camera))?.settings;
  const payload = await payloadOf(intent, deps);
  return {
    url: delivery.endpoint === undefined ? alert.url : null,
    trace: alert,
    payload: translated(payload, settings?.locale ?? DEFAULT_LOCALE),
    forEndpoint: endpointMessage(payload, { id: intent.id, name: settings?.name ?? camera, settings }, deps.links),
    overtaken: await isOvertaken(delivery, alert, deps),
    cameraEvent: (state) => {
      if (!('change' in intent) || intent.cooldownKey === null) return undefined;
      const { id: alertId, cooldownKey, suppressedCount } = intent;
      return { camera, event: { type: `alert.${state}`, alertId, cooldownKey, suppressedCount } };
    },
  };
}

const localeOf = async (camera: string, { cameras }: MessageDependencies): Promise<Locale> =>
  (await cameras.get(camera))?.settings.locale ?? DEFAULT_LOCALE;

async function payloadOf(intent: StoredMessage['intent'], { results, links }: MessageDependencies) {
  if ('signal' in intent) return buildSignalPayload(intent);
  const { best } = 'visit' in intent ? intent.visit : intent.change.comparisons;
  const shown = (await results.get(typeof best === 'string' ? best : best.comparison))?.comparison;
  const keptSince = shown?.finished_at == null ? null : Date.parse(shown.finished_at);
  return 'visit' in intent ? buildVisitPayload(intent, keptSince, links) : buildAlertPayload(intent, keptSince, links);
}

function testMessage({ id }: Delivery, { links }: MessageDependencies): Message {
  const createdAt = timeOf(id);
  const payload = buildAlertPayload(testAlert(createdAt), null, links);
  return {
    url: null,
    payload,
    forEndpoint: endpointMessage(payload, { id, name: 'scenedelta' }, links),
    overtaken: false,
    cameraEvent: () => undefined,
  };
}

const endpointMessage = (
  payload: EndpointMessage['payload'],
  { id, name, settings }: { id: string; name: string; settings?: CameraSettings | undefined },
  { baseUrl }: WebhookLinks,
) => ({
  ...{ id, payload, cameraName: name },
  ...{ locale: settings?.locale ?? DEFAULT_LOCALE, timeZone: settings?.schedule?.timezone ?? 'UTC' },
  baseUrl,
  link: baseUrl + pageOf(payload),
});

/** @returns the path of the page of the console */
function pageOf({ data }: EndpointMessage['payload']): string {
  if ('signal' in data) return `/cameras/${data.signal.camera}`;
  if ('status' in data) return `/cameras/${data.camera}`;
  return `/review/${'visit' in data ? data.visit.id : data.change.id}`;
}

/**
 * An alert that arrives after a later one of its change would report an outdated state; the later one contained the
 * whole change. Holding the later one back instead could delay it for days if the receiver refuses one alert.
 */
async function isOvertaken(
  { endpoint, resent_after }: Delivery,
  { intent }: StoredMessage,
  { changes, deliveries }: MessageDependencies,
): Promise<boolean> {
  // A person who asks for it again wants it as it was.
  if (resent_after !== undefined) return false;
  const deliveryOf = async (id: string): Promise<Delivery | undefined> => {
    if (endpoint === undefined) return deliveries.get(deliveryIdOf(id));
    const later = (await changes.alert(id))?.intent;
    return later && deliveries.get(endpointDeliveryIdOf(later, endpoint));
  };
  const found = await Promise.all((await changes.alertsAfter(subjectOf(intent), intent.at)).map(deliveryOf));
  return found.some((delivery) => delivery?.state === 'delivered');
}
