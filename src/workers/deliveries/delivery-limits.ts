/**
 * Limits on the deliveries that one worker has under way per receiver: one that hangs fills its own share and delays no
 * other receiver.
 */

/** Deliveries to one endpoint, or to one origin of callbacks, at a time. */
const PER_RECEIVER = 4;
/** Interval between two deliveries that are tried again under one limit, so that a long backlog costs little. */
const SPACING_MS = 50;

export type DeliveryLimits = ReturnType<typeof createDeliveryLimits>;

export function createDeliveryLimits(clock: () => number) {
  const running = new Map<string, number>();
  const lastRetry = new Map<string, number>();
  return {
    /** @returns room for one delivery to the receiver, or the time (epoch ms) at which to try again */
    enter(receiver: string): { readonly leave: () => void } | { readonly laterAt: number } {
      const now = clock();
      const count = running.get(receiver) ?? 0;
      if (count >= PER_RECEIVER) {
        const laterAt = Math.max(lastRetry.get(receiver) ?? 0, now) + SPACING_MS;
        lastRetry.set(receiver, laterAt);
        return { laterAt };
      }
      running.set(receiver, count + 1);
      return {
        leave() {
          const left = (running.get(receiver) ?? 1) - 1;
          if (left > 0) running.set(receiver, left);
          else {
            running.delete(receiver);
            lastRetry.delete(receiver);
          }
        },
      };
    },
  };
}
