/**
 * Event tokens: they open event streams in place of an API key for some minutes, because a browser's EventSource sends
 * no headers and a key in an address would stay in histories and logs. A token names its key, whose scopes, owner and
 * cameras count at the time of use; revoking the key ends it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Long enough to open a stream and to resume it after a short interruption. */
export const EVENT_TOKEN_LIFETIME_MS = 5 * 60_000;

const TOKEN = /^(\w{1,64})\.(\d{1,12})\.([\w-]{43})$/;

/** @param options.key links.ts derives it. @param options.expiresAt epoch ms */
export function signEventToken(keyId: string, options: { key: Buffer; expiresAt: number }): string {
  const exp = String(Math.floor(options.expiresAt / 1000));
  return `${keyId}.${exp}.${signature(keyId, exp, options.key)}`;
}

/** @returns the id of the token's key; undefined if the token is not genuine or has expired at `now` (epoch ms) */
export function verifyEventToken(token: string, options: { key: Buffer; now: number }): string | undefined {
  const [, keyId = '', exp = '', given = ''] = TOKEN.exec(token) ?? [];
  const expected = Buffer.from(signature(keyId, exp, options.key));
  const actual = Buffer.from(given);
  const genuine = actual.length === expected.length && timingSafeEqual(actual, expected);
  return genuine && Number(exp) * 1000 > options.now ? keyId : undefined;
}

/** Signed links sign texts that begin with '/', so neither signature is valid as the other. */
const signature = (keyId: string, exp: string, key: Buffer): string =>
  createHmac('sha256', key).update(`events\n${keyId}\n${exp}`).digest('base64url');
