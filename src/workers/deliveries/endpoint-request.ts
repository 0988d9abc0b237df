/** The request of a delivery to an endpoint: in its format, signed, and allowed by a CloudEvents receiver. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../base/blobs.js';
import type { CropOf } from '../../brief/pictures.js';
import { authorized } from '../../endpoints/authorization.js';
import { cut, type TextLimit } from '../../endpoints/cut.js';
import { limitsOf } from '../../endpoints/limits.js';
import type { EndpointRequest } from '../../endpoints/message.js';
import { pushRequest } from '../../endpoints/push-request.js';
import { render } from '../../endpoints/render.js';
import {
  type EndpointSecrets,
  HIDDEN,
  openSecrets,
  originOf,
  shownUrl,
  validSecrets,
} from '../../endpoints/secrets.js';
import { SIGNED_FORMATS } from '../../endpoints/settings.js';
import type { PictureOf } from '../../frames/change-picture.js';
import type { JobGuard } from '../../jobs/job-guard.js';
import { translated } from '../../language/translate.js';
import type { OutboundClient, PostOutcome } from '../../outbound/client.js';
import type { Delivery } from '../../schemas/delivery.js';
import type { EndpointPermission, EndpointRecord, EndpointStore } from '../../stores/delivery/endpoints.js';
import type { DeliveredMessage } from './delivery-message.js';
import { signedHeaders } from './sign-webhook.js';

export interface EndpointDependencies {
  readonly endpoints: Pick<EndpointStore, 'get' | 'noteAttempt' | 'savePermission' | 'pace' | 'erase'>;
  readonly outbound: Pick<OutboundClient, 'post' | 'put' | 'mail' | 'askPermission'>;
  /** has the packages that are put into buckets */
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly pictureOf: PictureOf;
  /** of the pictures of a brief */
  readonly cropOf: CropOf;
  /** key that encrypts the secrets of endpoints */
  readonly loginKey: Buffer;
  /** Runs what must be saved after a request was sent, again until the store takes it. */
  readonly patiently: JobGuard['patiently'];
}

/** later: the receiver takes the next request in `waitMs`. */
export type EndpointAttempt = PostOutcome | { readonly kind: 'later'; readonly waitMs: number };

const NO_PACKAGE = 'the package is stored no more: expected another request for it';
const ended = (error: string): PostOutcome => ({ status: null, error, retryAfterMs: null, permanent: true });

/**
 * Sends a message to an endpoint.
 * @param attempt.at epoch ms
 * @param attempt.traceparent trace context that the receiver gets
 */
export async function sendToEndpoint(
  delivery: Delivery,
  { message }: DeliveredMessage,
  { at, traceparent }: { at: number; traceparent: string | undefined },
  deps: EndpointDependencies,
): Promise<EndpointAttempt> {
  const endpoint = await deps.endpoints.get(delivery.endpoint ?? '');
  if (endpoint === undefined) return ended('the endpoint has been deleted');
  if (endpoint.stopped !== null) return ended(`the endpoint is stopped: ${endpoint.stopped.detail}`);
  if (!endpoint.settings.enabled) return ended('the endpoint is disabled');
  const { format } = endpoint.settings;
  const secrets = opened(endpoint, deps.loginKey);
  if (secrets === undefined) return ended(UNREADABLE);

  const allowed = await permissionOf(endpoint, secrets, message.baseUrl, deps);
  if ('error' in allowed) return noted(endpoint, explained(allowed, secrets), deps);
  const rate = allowed.rate === null ? limitsOf(format).rate : { perMinute: allowed.rate, burst: 1 };
  const waitMs = rate === null ? 0 : await deps.endpoints.pace(endpoint.id, rate);
  if (waitMs > 0) return { kind: 'later', waitMs };

  const locale = endpoint.settings.locale ?? message.locale;
  const { picture: limit } = limitsOf(format);
  const { picture } = message;
  const jpeg = limit === null || picture === null ? undefined : await deps.pictureOf(picture, limit);
  const { package: stored, brief } = message.payload.data;
  const crops = brief && (await Promise.all(brief.pictures.map(({ shown }) => deps.cropOf(shown))));
  const file = stored === undefined ? undefined : await deps.blobs.get(stored.blob);
  if (stored !== undefined && file === undefined) return ended(NO_PACKAGE);
  const { template: text, content_type: contentType } = endpoint.settings;
  const receiver = { ...secrets, template: text == null ? undefined : { text, contentType } };
  const request = rendered(
    format,
    { ...translated(message, locale), locale, now: at, jpeg, file, ...(crops && { crops }) },
    receiver,
  );
  if ('error' in request) return noted(endpoint, request, deps);
  const signature = (body: string) => ({
    ...(SIGNED_FORMATS.includes(format) ? signedHeaders({ id: delivery.id, at, body }, validSecrets(secrets, at)) : {}),
    ...(traceparent === undefined ? {} : { traceparent }),
  });
  const outcome =
    format === 'web-push'
      ? await pushed(request, { ...secrets, baseUrl: message.baseUrl }, deps)
      : await sent(request, { ...secrets, at, certificate: endpoint.settings.certificate }, signature, deps);
  return noted(endpoint, explained(outcome, secrets), deps);
}

/** A template may fail for a message although it was valid for a test event. */
function rendered(...given: Parameters<typeof render>): EndpointRequest | PostOutcome {
  try {
    return render(...given);
  } catch (thrown) {
    return ended(`the template has no body for this message: ${(thrown as Error).message.split('\n')[0]}`);
  }
}

/** The platform encodes a form; the mailer makes a mail of its parts. */
async function sent(
  { url, method, headers, body }: EndpointRequest,
  {
    authorization,
    certificate,
    at,
  }: Pick<EndpointSecrets, 'authorization'> & { certificate: string | null; at: number },
  signature: (body: string) => Record<string, string>,
  { outbound }: Pick<EndpointDependencies, 'outbound'>,
): Promise<PostOutcome> {
  const post = (sentBody: string | Uint8Array, sentHeaders: Record<string, string>) =>
    outbound.post(url, { body: sentBody, headers: sentHeaders, quoting: true, certificate });
  if (typeof body === 'string') {
    return post(body, { ...(await authorized({ url, headers, body }, at)), ...signature(body) });
  }
  if (body instanceof Uint8Array) {
    const hashed = { ...headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') };
    const signed = await authorized({ url, method, headers: hashed, body }, at);
    return outbound.put(url, { body, headers: { ...signed }, quoting: true, certificate });
  }
  if (!(body instanceof FormData)) return outbound.mail(url, body, { password: authorization, certificate });
  const form = new Response(body);
  const type = form.headers.get('content-type') ?? '';
  return post(new Uint8Array(await form.arrayBuffer()), { ...headers, 'content-type': type });
}

/** Answers of a push service about a subscription that has ended: the browser has withdrawn it. */
const ENDED = [404, 410];

async function pushed(
  { url, headers, body }: EndpointRequest,
  { authorization, baseUrl }: EndpointSecrets & { readonly baseUrl: string },
  { outbound, loginKey }: Pick<EndpointDependencies, 'outbound' | 'loginKey'>,
): Promise<PostOutcome> {
  const by = { loginKey, baseUrl };
  const encrypted = pushRequest({ url, headers, body: String(body) }, authorization, by);
  const outcome = await outbound.post(url, { body: encrypted.body, headers: { ...encrypted.headers }, quoting: true });
  return ENDED.includes(outcome.status ?? 0) ? { ...outcome, permanent: true } : outcome;
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

/**
 * Counts the outcome for the endpoint, and stops one that is gone or has failed for too long. A subscription of a
 * browser that has ended is erased after its event, because the browser makes another one.
 */
async function noted(
  { id, settings: { format } }: EndpointRecord,
  outcome: PostOutcome,
  { endpoints, patiently }: EndpointDependencies,
): Promise<PostOutcome> {
  const hasEnded = format === 'web-push' && ENDED.includes(outcome.status ?? 0);
  const gone = hasEnded || outcome.status === 410;
  await patiently(() => endpoints.noteAttempt(id, { error: outcome.error, gone }));
  if (hasEnded) await patiently(() => endpoints.erase(id));
  return outcome;
}

/** Longest quotation of a receiver. */
const QUOTED: TextLimit = { most: 300, unit: 'characters' };

/** The outcome with the receiver's words, and without the secrets of the endpoint: it is logged and shown. */
function explained(outcome: PostOutcome, { url, authorization }: EndpointSecrets): PostOutcome {
  if (outcome.error === null) return outcome;
  const { pathname, search } = new URL(url);
  const origin = originOf(url);
  const shown = shownUrl(url);
  const secrets = [
    [origin + pathname + search, shown],
    [origin + pathname, shown],
    ...(pathname.length > 1 ? [[pathname, HIDDEN] as const] : []),
    ...[authorization, authorization?.split(' ').at(-1)].flatMap((one) =>
      one == null ? [] : [[one, HIDDEN] as const],
    ),
  ] as const;
  const clean = (text: string) => secrets.reduce((left, [secret, instead]) => left.replaceAll(secret, instead), text);
  const said = clean(outcome.said ?? '')
    .replace(/[\p{Cc}\s\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim();
  const quoted = said === '' ? '' : `; it said: ${cut(said, QUOTED)}`;
  const retryAfterMs = outcome.retryAfterMs ?? retryAfterIn(said);
  return { ...outcome, error: clean(outcome.error) + quoted, retryAfterMs };
}

/** Discord and Telegram state the delay in the body. @returns ms */
function retryAfterIn(said: string): number | null {
  const seconds = /"retry_after": ?(\d{1,6}(?:\.\d+)?)/.exec(said)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
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
  const { certificate } = endpoint.settings;
  const answer = await outbound.askPermission(url, { origin, headers, certificate });
  if ('error' in answer) return answer;
  const permission = { origin, rate: answer.rate };
  await endpoints.savePermission(endpoint.id, permission);
  return permission;
}
