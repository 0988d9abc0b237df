/** The request of a delivery to an endpoint: in its format, signed, and allowed by a CloudEvents receiver. */

import type { EndpointRequest } from '../../endpoints/message.js';
import { type FormatName, render } from '../../endpoints/render.js';
import { type EndpointSecrets, openSecrets, shownUrl, validSecrets } from '../../endpoints/secrets.js';
import { SIGNED_FORMATS } from '../../endpoints/settings.js';
import type { JobGuard } from '../../jobs/job-guard.js';
import { translated } from '../../language/translate.js';
import type { OutboundClient, PostOutcome } from '../../outbound/client.js';
import type { Delivery } from '../../schemas/delivery.js';
import type { EndpointPermission, EndpointRecord, EndpointStore } from '../../stores/endpoints.js';
import type { Message } from './delivery-message.js';
import { signedHeaders } from './sign-webhook.js';

export interface EndpointDependencies {
  readonly endpoints: Pick<EndpointStore, 'get' | 'noteAttempt' | 'savePermission' | 'pace'>;
  readonly outbound: Pick<OutboundClient, 'post' | 'askPermission'>;
  /** key that encrypts the secrets of endpoints */
  readonly loginKey: Buffer;
  /** Runs what must be saved after a request was sent, again until the store takes it. */
  readonly patiently: JobGuard['patiently'];
}

/** later: the receiver takes the next request in `waitMs`. */
export type EndpointAttempt = PostOutcome | { readonly kind: 'later'; readonly waitMs: number };

const ended = (error: string): PostOutcome => ({ status: null, error, retryAfterMs: null, permanent: true });

/**
 * Sends a message to an endpoint.
 * @param attempt.at epoch ms
 * @param attempt.traceparent trace context that the receiver gets
 */
export async function sendToEndpoint(
  delivery: Delivery,
  message: Message,
  { at, traceparent }: { at: number; traceparent: string | undefined },
  deps: EndpointDependencies,
): Promise<EndpointAttempt> {
  const endpoint = await deps.endpoints.get(delivery.endpoint ?? '');
  if (endpoint === undefined || message.forEndpoint === undefined) return ended('the endpoint has been deleted');
  if (endpoint.stopped !== null) return ended(`the endpoint is stopped: ${endpoint.stopped.detail}`);
  if (!endpoint.settings.enabled) return ended('the endpoint is disabled');
  const { format } = endpoint.settings;
  const secrets = opened(endpoint, deps.loginKey);
  if (secrets === undefined) return ended(UNREADABLE);

  const allowed = await permissionOf(endpoint, secrets, message.forEndpoint.baseUrl, deps);
  if ('error' in allowed) return noted(endpoint, withoutPath(allowed, secrets.url, format), deps);
  const waitMs = allowed.rate === null ? 0 : await deps.endpoints.pace(endpoint.id, allowed.rate);
  if (waitMs > 0) return { kind: 'later', waitMs };

  const locale = endpoint.settings.locale ?? message.forEndpoint.locale;
  const payload = translated(message.forEndpoint.payload, locale);
  const request = render(format, { ...message.forEndpoint, payload, locale, now: at }, secrets);
  const trace = traceparent === undefined ? {} : { traceparent };
  const headers = { ...signed(request, delivery.id, at, format, secrets), ...trace };
  const outcome = await deps.outbound.post(request.url, { body: request.body, headers });
  return noted(endpoint, withoutPath(outcome, secrets.url, format), deps);
}

const UNREADABLE =
  'the address of the endpoint cannot be decrypted, because LOGIN_SECRET or the webhook secret has changed: ' +
  'expected the earlier secret, or the address once more';

function opened({ id, sealed }: EndpointRecord, key: Buffer): EndpointSecrets | undefined {
  try {
    return openSecrets(id, sealed, key);
  } catch {
    return undefined;
  }
}

function signed(
  { headers, body }: EndpointRequest,
  id: string,
  at: number,
  format: FormatName,
  secrets: EndpointSecrets,
): Record<string, string> {
  if (!SIGNED_FORMATS.includes(format)) return { ...headers };
  return { ...headers, ...signedHeaders({ id, at, body }, validSecrets(secrets, at)) };
}

/** Counts the outcome for the endpoint, and stops one that is gone or has failed for too long. */
async function noted(
  { id }: EndpointRecord,
  outcome: PostOutcome,
  { endpoints, patiently }: EndpointDependencies,
): Promise<PostOutcome> {
  await patiently(() => endpoints.noteAttempt(id, { error: outcome.error, gone: outcome.status === 410 }));
  return outcome;
}

/** Removes the secret part of the address from an error, which is logged and shown. */
function withoutPath(outcome: PostOutcome, url: string, format: FormatName): PostOutcome {
  const { origin, pathname, search } = new URL(url);
  const { error } = outcome;
  return error === null
    ? outcome
    : {
        ...outcome,
        error: error
          .replaceAll(origin + pathname + search, shownUrl(url, format))
          .replaceAll(origin + pathname, shownUrl(url, format)),
      };
}

const UNLIMITED = { rate: null };

/**
 * CloudEvents HTTP webhooks, 4: a receiver is asked once whether it takes our deliveries, so that no caller can make
 * the service send to an address that does not expect them.
 * @returns the rate that it allows, or why nothing may be sent
 */
async function permissionOf(
  endpoint: EndpointRecord,
  { url, authorization }: EndpointSecrets,
  baseUrl: string,
  { endpoints, outbound }: EndpointDependencies,
): Promise<Pick<EndpointPermission, 'rate'> | PostOutcome> {
  if (!endpoint.settings.format.startsWith('cloudevents')) return UNLIMITED;
  const origin = new URL(baseUrl).hostname;
  if (endpoint.permission?.origin === origin) return endpoint.permission;
  const headers = { ...(authorization === null ? {} : { authorization }) };
  const answer = await outbound.askPermission(url, { origin, headers });
  if ('error' in answer) return answer;
  const permission = { origin, rate: answer.rate };
  await endpoints.savePermission(endpoint.id, permission);
  return permission;
}
