/** The encrypted request of a notification (RFC 8291), signed with the key of this service (VAPID, RFC 8292). Pure. */
import { createECDH, hkdfSync } from 'node:crypto';
import webPush from 'web-push';
import { pushKeysOf } from './formats/web-push.js';

export interface PushRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Push services ask for an address of the sender. A service without a public one has none. */
const subjectOf = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? baseUrl : 'mailto:operator@scenedelta.invalid';

/**
 * The key pair by which push services know this service. It derives from the key that all its processes share, so that
 * none has to be stored; another key ends all subscriptions.
 * @param loginKey the key that seals secrets
 */
export function vapidKeys(loginKey: Buffer): { readonly publicKey: string; readonly privateKey: string } {
  const scalar = Buffer.from(hkdfSync('sha256', loginKey, '', 'scenedelta/web-push/1', 32));
  // Below the order of P-256, whatever the other bits are.
  scalar[0] = (scalar[0] as number) & 0x7f;
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(scalar);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: scalar.toString('base64url') };
}

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
