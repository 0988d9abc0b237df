/** The formats of endpoints, and the request in one of them for a message. Pure. */
import { alertmanager } from './formats/alertmanager.js';
import { binaryCloudEvent, structuredCloudEvent } from './formats/cloudevents.js';
import { ntfy } from './formats/ntfy.js';
import { slack } from './formats/slack.js';
import type { FormatName } from './limits.js';
import type { EndpointMessage, EndpointRequest, Format, Receiver } from './message.js';

/** Standard Webhooks 1.0: the unaltered payload of alerts. sign.ts adds the signature. */
const standardWebhooks: Format = ({ payload }, { url }) => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(payload),
});

const FORMATS = {
  'standard-webhooks': standardWebhooks,
  cloudevents: structuredCloudEvent,
  'cloudevents-binary': binaryCloudEvent,
  alertmanager,
  slack,
  ntfy,
} as const satisfies Readonly<Record<FormatName, Format>>;

/** @returns the request without its signature */
export function render(format: FormatName, message: EndpointMessage, receiver: Receiver): EndpointRequest {
  const request = FORMATS[format](message, receiver);
  const { authorization } = receiver;
  return authorization === null ? request : { ...request, headers: { ...request.headers, authorization } };
}
