/**
 * Limits on the deliveries that a worker has under way: per receiver (an endpoint, or an origin of callbacks), and for
 * the callbacks of one owner of API keys. One that hangs delays no other.
 */
import { createShares } from '../../jobs/shares.js';

/** Deliveries mostly wait for their receivers: many run at once. */
export const DELIVERY_CONCURRENCY = 32;
const LIMITS = { receiver: 4, owner: 24 } as const;
const SPACING_MS = 50;

export type DeliveryLimits = ReturnType<typeof createDeliveryLimits>;

export function createDeliveryLimits(clock: () => number) {
  const shares = createShares((name) => LIMITS[name.startsWith('owner') ? 'owner' : 'receiver'], SPACING_MS, clock);
  return {
    /** @param owner of the comparison whose callback it is; undefined: of an endpoint, or not known */
    enter: (receiver: string, owner?: string) =>
      shares.enter([`receiver ${receiver}`, ...(owner === undefined ? [] : [`owner ${owner}`])]),
  };
}
