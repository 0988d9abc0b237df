/** Identifiers sort by creation time (ULID), carry their kind as a prefix, and are legal BullMQ job ids (no ':', not an integer). */
import { createHash } from 'node:crypto';
import { encodeTime, ulid } from 'ulid';

export type IdPrefix = 'alr' | 'chg' | 'cmp' | 'dlv' | 'key' | 'msk' | 'wrk';
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** e.g. newId('cmp') -> 'cmp_01k9...' : prefix, underscore, 26 lower-case Crockford characters. */
export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${ulid(now).toLowerCase()}`;

export const isId = (prefix: IdPrefix, value: string): boolean =>
  new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`).test(value);

/**
 * The form of `newId` with a hash of the name (80 bits of SHA-256) in place of the random part: equal arguments give equal ids.
 * @param at epoch ms
 */
export function derivedId(prefix: IdPrefix, at: number, name: string): string {
  const digest = createHash('sha256').update(name).digest().subarray(0, 16);
  const suffix = Array.from(digest, (byte) => CROCKFORD[byte % 32]).join('');
  return `${prefix}_${encodeTime(at, 10).toLowerCase()}${suffix}`;
}
