/** Identifiers sort by creation time (ULID), carry their kind as a prefix, and are legal BullMQ job ids (no ':', not an integer). */
import { ulid } from 'ulid';

export type IdPrefix = 'cmp' | 'dlv' | 'key' | 'msk' | 'wrk';

/** e.g. newId('cmp') -> 'cmp_01k9...' : prefix, underscore, 26 lower-case Crockford characters. */
export const newId = (prefix: IdPrefix, now: number = Date.now()): string =>
  `${prefix}_${ulid(now).toLowerCase()}`;

export const isId = (prefix: IdPrefix, value: string): boolean =>
  new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`).test(value);
