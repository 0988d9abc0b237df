/** The formats of endpoints, and the request in one of them for a message. Pure. */
import { alertmanager } from './formats/alertmanager.js';
import { bucket } from './formats/bucket.js';
import { binaryCloudEvent, structuredCloudEvent } from './formats/cloudevents.js';
import { email } from './formats/email.js';
import { ntfy } from './formats/ntfy.js';
import { pagerduty } from './formats/pagerduty.js';
import { slack } from './formats/slack.js';
import { teams } from './formats/teams.js';
import { telegram } from './formats/telegram.js';
import { template } from './formats/template.js';
import { webPush } from './formats/web-push.js';
import type { FormatName } from './limits.js';
import { type EndpointMessage, type EndpointRequest, type Format, jsonRequest, type Receiver } from './message.js';

/** Standard Webhooks 1.0: the unaltered payload of alerts. sign.ts adds the signature. */
const standardWebhooks: Format = ({ payload }, { url }) => jsonRequest(url, payload);

const FORMATS = {
  'standard-webhooks': standardWebhooks,
  cloudevents: structuredCloudEvent,
  'cloudevents-binary': binaryCloudEvent,
  alertmanager,
  slack,
  ntfy,
  teams,
  telegram,
  pagerduty,
  email,
  bucket,
  template,
  'web-push': webPush,
} as const satisfies Readonly<Record<FormatName, Format>>;

/** Formats that send the login in another way than by the header Authorization. */
const LOGINS: readonly FormatName[] = ['pagerduty', 'email', 'web-push'];

/** @returns the request without its signature */
export function render(format: FormatName, message: EndpointMessage, receiver: Receiver): EndpointRequest {
  const request = FORMATS[format](message, receiver);
  const { authorization } = receiver;
  return authorization === null || LOGINS.includes(format)
    ? request
    : { ...request, headers: { ...request.headers, authorization } };
}
