/**
 * The Events API v2 of PagerDuty: one incident per change, by the id of the change. It is triggered when the change is
 * alerted, and resolved when the change has reverted or a person has acknowledged it.
 */

import { endsSubject } from '../../schemas/message.js';
import { cut } from '../cut.js';
import { LIMITS } from '../limits.js';
import { type EndpointMessage, type Format, jsonRequest, linkOf, pictureOf, textOf, titleOf } from '../message.js';

const SEVERITIES = { info: 'info', low: 'warning', medium: 'error', high: 'critical' } as const;

/** Integration keys of a service. */
export const ROUTING_KEY = /^[A-Za-z0-9]{32}$/;

export const pagerduty: Format = (message, { url, authorization }) =>
  jsonRequest(url, { routing_key: authorization, ...eventOf(message) });

function eventOf(message: EndpointMessage) {
  const { type, subject, camera, zone, kind, severity } = message;
  const picture = pictureOf(message);
  return {
    event_action: endsSubject(type) ? 'resolve' : 'trigger',
    dedup_key: subject.id,
    client: 'scenedelta',
    client_url: linkOf(message),
    ...(picture === undefined ? {} : { images: [{ src: picture, href: linkOf(message) }] }),
    payload: {
      summary: cut(`${titleOf(message)}: ${textOf(message)}`, LIMITS.pagerduty.body),
      source: camera,
      severity: SEVERITIES[severity],
      timestamp: message.payload.timestamp,
      class: kind,
      ...(zone === null ? {} : { component: zone }),
    },
  };
}
