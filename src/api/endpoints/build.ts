/** Checks of the body of a request that makes or changes an endpoint, and its secrets. */
import { randomBytes } from 'node:crypto';
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import { authorizationFault } from '../../endpoints/authorization.js';
import { BUCKET_LOGIN } from '../../endpoints/formats/bucket.js';
import { addressesOf } from '../../endpoints/formats/email.js';
import { topicOf } from '../../endpoints/formats/ntfy.js';
import { ROUTING_KEY } from '../../endpoints/formats/pagerduty.js';
import { botOf } from '../../endpoints/formats/telegram.js';
import { templateFault } from '../../endpoints/formats/template.js';
import { pushKeysOf } from '../../endpoints/formats/web-push.js';
import type { FormatName } from '../../endpoints/limits.js';
import { type EndpointSecrets, openSecrets, originOf, shownUrl } from '../../endpoints/secrets.js';
import type { EndpointPatch, EndpointSettings } from '../../endpoints/settings.js';
import type { AllowList } from '../../outbound/address.js';
import { readCertificate } from '../../process/connect.js';
import { ALERT_TYPES } from '../../schemas/kinds.js';
import { type MessageEvent, SIGNAL_EVENTS } from '../../schemas/message.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';
import { assertCertificate, assertUrl } from '../intake/url-policy.js';
import { assertZone } from '../parse-time.js';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

export const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * @throws ScenedeltaError 'url-refused' for an address that may not be requested, 'invalid-value' for an address or a
 *   login that does not fit the format
 */
export function assertReceiver(
  { url, authorization }: Pick<EndpointSecrets, 'url' | 'authorization'>,
  { format, certificate }: Pick<EndpointSettings, 'format' | 'certificate'>,
  allow: AllowList,
): void {
  assertUrl(url, 'url', allow, { mail: format === 'email' });
  assertCertificate(certificate, 'certificate');
  if (certificate !== null && url.startsWith('smtp:') && readCertificate(certificate)?.authority === undefined) {
    throw invalidValue(
      'certificate is a fingerprint, expected PEM for smtp://, or an address with smtps://',
      'certificate',
    );
  }
  const fault = authorization === null ? undefined : authorizationFault(authorization);
  if (fault !== undefined) throw invalidValue(`authorization: ${fault}`, 'authorization');
  if (format === 'pagerduty' && !ROUTING_KEY.test(authorization ?? '')) {
    throw invalidValue(
      'authorization is no integration key of PagerDuty: expected 32 letters and digits',
      'authorization',
    );
  }
  if (format === 'web-push' && pushKeysOf(authorization) === undefined) {
    throw invalidValue(
      'authorization has no keys of a subscription: expected p256dh:auth in base64url',
      'authorization',
    );
  }
  if (format === 'bucket' && !BUCKET_LOGIN.test(authorization ?? '')) {
    throw invalidValue(
      'authorization has no login for a bucket: expected aws-sigv4 <access key id>:<secret access key>:<region>:s3',
      'authorization',
    );
  }
  const expected =
    format === 'ntfy' && topicOf(url) === undefined
      ? 'that ends with a topic for ntfy, e.g. https://ntfy.example/my-topic'
      : format === 'telegram' && botOf(url) === undefined
        ? 'of a bot with a chat, https://api.telegram.org/bot<token>?chat_id=<id>'
        : format === 'email' && addressesOf(url) === undefined
          ? 'with a sender and a recipient, smtps://user@mail.example?from=<address>&to=<address>'
          : undefined;
  if (expected === undefined) return;
  const given = JSON.stringify(shownUrl(url).slice(0, 100));
  throw invalidValue(`url is ${given}, expected an address ${expected}`, 'url');
}

/**
 * A stored Authorization is sent to the origin that it was given for alone.
 * @throws ScenedeltaError 'invalid-value' if the address has another origin and `authorization` is not given
 */
export function assertAuthorization(given: EndpointPatch, earlier: EndpointSecrets): void {
  if (given.url === undefined || given.authorization !== undefined || earlier.authorization === null) return;
  if (originOf(given.url) === originOf(earlier.url)) return;
  throw invalidValue(
    'authorization is not given, but the address has another origin: expected it once more, or null for none',
    'authorization',
  );
}

/** @throws ScenedeltaError 'invalid-value' naming the line, for a missing or invalid template */
export function assertTemplate({ format, template, content_type }: EndpointSettings): void {
  if (format !== 'template') return;
  const fault = template === null ? 'it is missing, expected one in Liquid' : templateFault(template, content_type);
  if (fault !== undefined) throw invalidValue(`template: ${fault}`, 'template');
}

/** Formats of receivers that raise alerts and resolve them. */
const ALERTS_ALONE: readonly FormatName[] = ['alertmanager', 'pagerduty'];

/** @throws ScenedeltaError 'invalid-value' for an event, or a limit, that the format has no request for */
export function assertEvents({
  format,
  events,
  limit,
  brief,
}: Pick<EndpointSettings, 'format' | 'events' | 'limit' | 'brief'>): void {
  if (brief !== null) {
    if (format !== 'email') throw invalidValue(`brief is given with the format ${format}, expected email`, 'brief');
    assertZone(brief.time_zone, 'brief/time_zone');
  }
  if (ALERTS_ALONE.includes(format) && limit !== null) {
    throw invalidValue(`limit is given with the format ${format}, expected null: it groups alerts itself`, 'limit');
  }
  if (format === 'bucket' && events.length > 0) {
    throw invalidValue(
      `events has ${events[0]} with the format bucket, expected none: it gets packages alone`,
      'events',
    );
  }
  if (format !== 'bucket' && events.length === 0 && brief === null) {
    throw invalidValue('events is empty, expected at least one, or none given for the usual ones', 'events');
  }
  const other = events.find((type) => ![...ALERT_TYPES, ...SIGNAL_EVENTS].some((alert) => alert === type));
  if (ALERTS_ALONE.includes(format) && other !== undefined) {
    throw invalidValue(
      `events has ${other} with the format ${format}, expected alerts alone: it raises none`,
      'events',
    );
  }
  if (format !== 'pagerduty') return;
  for (const [type, ends] of ENDS_OF) {
    if (!events.includes(type) || ends.some((end) => events.includes(end))) continue;
    throw invalidValue(
      `events has ${type} with the format ${format}, expected ${ends[0]} as well: it ends it`,
      'events',
    );
  }
}

/** The events of which one resolves an incident; those of Alertmanager end after a day by themselves. */
const ENDS_OF: readonly (readonly [MessageEvent, readonly MessageEvent[]])[] = [
  ['change.opened', ['change.reverted', 'change.acknowledged']],
  ['change.escalated', ['change.reverted', 'change.acknowledged']],
  ['camera.silent', ['camera.back']],
  ['camera.stuck', ['camera.back']],
  ['camera.signal_lost', ['camera.signal_back']],
  ['camera.lens_covered', ['camera.lens_clear']],
];

/** @throws ScenedeltaError 'invalid-value' if they were encrypted with another key */
export function secretsOf({ id, sealed }: EndpointRecord, key: Buffer): EndpointSecrets {
  try {
    return openSecrets(id, sealed, key);
  } catch (cause) {
    throw new ScenedeltaError(
      'invalid-value',
      'the address of the endpoint cannot be decrypted, because LOGIN_SECRET or the webhook secret has changed: ' +
        'expected the earlier secret, or the endpoint deleted and created once more',
      { cause },
    );
  }
}
