/**
 * When an index has to be tidied: its stale entries removed and its expiry renewed. Retention removes an entry together
 * with what it names. Tidying bounds an index of a Redis that no worker serves, so it need not be part of every write.
 */
import { LRUCache } from 'lru-cache';
import { HOUR_MS } from '../../base/clock.js';

/** Entries and indexes are kept this much longer than what they name. */
export const EXPIRY_SLACK_MS = HOUR_MS;
const INDEXES = 10_000;

/** @returns whether an index has to be tidied now (epoch ms): at its first write by this store, and once per hour */
export function createTidying(): (index: string, now: number) => boolean {
  const tidied = new LRUCache<string, number>({ max: INDEXES });
  return (index, now) => {
    if (Math.abs(now - (tidied.get(index) ?? Number.NEGATIVE_INFINITY)) < EXPIRY_SLACK_MS) return false;
    tidied.set(index, now);
    return true;
  };
}
