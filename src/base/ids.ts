/**
 * Ids: a prefix for the kind, then a ULID in lower case, so that ids sort by creation time and are legal BullMQ job
 * ids.
 */
import { createHash, randomBytes } from 'node:crypto';
import { decodeTime, encodeTime } from 'ulid';
import { systemClock } from './clock.js';

export type IdPrefix = 'alr' | 'bat' | 'chg' | 'cmp' | 'dlv' | 'end' | 'key' | 'msk' | 'vis' | 'wrk';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** @returns e.g. 'cmp_01k9...': prefix, underscore, 26 lower-case Crockford characters. */
export const newId = (prefix: IdPrefix, now: number = systemClock()): string => idOf(prefix, now, randomBytes(16));

export const isId = (prefix: IdPrefix, value: string): boolean =>
  new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`).test(value);

/** @returns the time of an id's making, epoch ms */
export const timeOf = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1).toUpperCase());

/** @returns a W3C trace id: 32 hexadecimal digits. */
export const newTraceId = (): string => randomBytes(16).toString('hex');

/**
 * An id that follows from what it names, so that the same frames yield the same ids again. It has the form of a ULID,
 * with a hash of time and name instead of the random part.
 * @param at epoch ms
 */
export function derivedId(prefix: IdPrefix, at: number, name: string): string {
  return idOf(prefix, Math.max(0, at), createHash('sha256').update(`${at}\n${name}`).digest().subarray(0, 16));
}

/** @param bytes 16 bytes, of which 80 bits are used */
function idOf(prefix: IdPrefix, at: number, bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => CROCKFORD[byte % 32]).join('');
  return `${prefix}_${encodeTime(at).toLowerCase()}${characters}`;
}

const withPrefix = (prefix: string, id: string): string => `${prefix}_${id.slice(id.indexOf('_') + 1)}`;

/**
 * A comparison or an alert has one delivery per receiver with an id of its own, so that announcing it twice cannot make
 * a second one. This is the delivery to the callback.
 */
export const deliveryIdOf = (comparisonOrAlertId: string): string => withPrefix('dlv', comparisonOrAlertId);
/** @param alert.at capture time of the alert, epoch ms */
export const endpointDeliveryIdOf = (alert: { readonly id: string; readonly at: number }, endpoint: string): string =>
  derivedId('dlv', alert.at, `${alert.id}\n${endpoint}`);
export const comparisonIdOf = (deliveryId: string): string => withPrefix('cmp', deliveryId);
export const alertIdOf = (deliveryId: string): string => withPrefix('alr', deliveryId);
