/**
 * Signed tokens that replace an API key in a browser, each for one purpose and a limited time. A token names its key,
 * whose scopes, owner and cameras count at the time of use; revoking the key ends it. A random part makes each differ
 * from all others, because a sign-in token and the token of an ended session are refused afterwards.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * events: in the query of an event stream, because an EventSource sends no headers; long enough to resume it after a
 * short interruption. sign-in: in a link that opens the console. session: in the console's cookie. device: in a link
 * that a session makes for another device; device-session: in the cookie there, which makes no further link.
 */
const TOKEN_LIFETIMES_MS = {
  events: 5 * 60_000,
  'sign-in': 30 * 60_000,
  session: 12 * 3_600_000,
  device: 5 * 60_000,
  'device-session': 12 * 3_600_000,
} as const;
export type TokenPurpose = keyof typeof TOKEN_LIFETIMES_MS;

const TOKEN = /^(\w{1,64}\.\d{1,12}\.[\w-]{12})\.([\w-]{43})$/;

/**
 * @param options.key links.ts derives it. @param options.now epoch ms
 * @returns the token, and its expiry in epoch ms, a whole second as in the token
 */
export function signToken(purpose: TokenPurpose, keyId: string, options: { key: Buffer; now: number }) {
  const exp = Math.floor((options.now + TOKEN_LIFETIMES_MS[purpose]) / 1000);
  const content = `${keyId}.${exp}.${randomBytes(9).toString('base64url')}`;
  return { token: `${content}.${signature(purpose, content, options.key)}`, expiresAt: exp * 1000 };
}

/**
 * @returns id of the token's key, and its expiry; undefined if the token is not genuine, is for another purpose or has
 *   expired at `now` (epoch ms)
 */
export function verifyToken(
  purpose: TokenPurpose,
  token: string,
  options: { key: Buffer; now: number },
): { keyId: string; expiresAt: number } | undefined {
  const [, content = '', given = ''] = TOKEN.exec(token) ?? [];
  const [keyId = '', exp = ''] = content.split('.');
  const expected = Buffer.from(signature(purpose, content, options.key));
  const actual = Buffer.from(given);
  const genuine = actual.length === expected.length && timingSafeEqual(actual, expected);
  const expiresAt = Number(exp) * 1000;
  return genuine && expiresAt > options.now ? { keyId, expiresAt } : undefined;
}

/** Signed links sign texts that begin with '/', so neither signature is valid as the other. */
const signature = (purpose: TokenPurpose, content: string, key: Buffer): string =>
  createHmac('sha256', key).update(`${purpose}\n${content}`).digest('base64url');
