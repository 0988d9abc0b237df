/** From a message to the request in the format of an endpoint. Pure. */
import { alertmanager } from './formats/alertmanager.js';
import { binaryCloudEvent, structuredCloudEvent } from './formats/cloudevents.js';
import { ntfy } from './formats/ntfy.js';
import { slack } from './formats/slack.js';
import { standardWebhooks } from './formats/webhooks.js';
import type { EndpointMessage, EndpointRequest, Format, Receiver } from './message.js';
import type { FormatName } from './settings.js';

const RENDERERS: Readonly<Record<FormatName, Format>> = {
  'standard-webhooks': standardWebhooks,
  cloudevents: structuredCloudEvent,
  'cloudevents-binary': binaryCloudEvent,
  alertmanager,
  slack,
  ntfy,
};

/** @returns the request without its signature */
export function render(format: FormatName, message: EndpointMessage, receiver: Receiver): EndpointRequest {
  const request = RENDERERS[format](message, receiver);
  const { authorization } = receiver;
  return authorization === null ? request : { ...request, headers: { ...request.headers, authorization } };
}
