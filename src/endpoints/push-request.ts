/** The encrypted request of a notification (RFC 8291), signed with the key of this service (VAPID, RFC 8292). Pure. */
import webPush from 'web-push';
import { vapidKeys } from '../secrets/vapid-keys.js';
import { pushKeysOf } from './formats/web-push.js';

export interface PushRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Push services ask for an address of the sender. A service without a public one has none. */
const subjectOf = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? baseUrl : 'mailto:operator@scenedelta.invalid';

/**
 * @param given.headers those of the format: `ttl` and `urgency`
 * @param authorization the keys of the browser
 * @param options.baseUrl address of this service
 * @throws Error if the keys of the browser are no keys
 */
export function pushRequest(
  { url, headers, body }: { url: string; headers: Readonly<Record<string, string>>; body: string },
  authorization: string | null,
  { loginKey, baseUrl }: { readonly loginKey: Buffer; readonly baseUrl: string },
): PushRequest {
  const keys = pushKeysOf(authorization);
  if (keys === undefined) throw new TypeError('the endpoint has no keys of a subscription');
  const details = webPush.generateRequestDetails({ endpoint: url, keys }, body, {
    vapidDetails: { subject: subjectOf(baseUrl), ...vapidKeys(loginKey) },
    TTL: Number(headers.ttl),
    urgency: headers.urgency === 'high' ? 'high' : 'normal',
    contentEncoding: 'aes128gcm',
  });
  const sent = Object.entries(details.headers as Record<string, string | number>)
    // The client of requests counts the bytes itself.
    .filter(([name]) => name.toLowerCase() !== 'content-length')
    .map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return { headers: Object.fromEntries(sent), body: new Uint8Array(details.body as Buffer) };
}
