/** The lock that keeps the publisher the only one: two would publish every event twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../process/logger.js';
import type { MqttStore } from '../stores/delivery/mqtt.js';

/** Time after which another process takes over from one that was killed. */
const TTL_MS = 10_000;
const RENEWALS = 4;
const ASK_MS = 1_000;

/**
 * Waits for the lock, and renews it until it is released.
 * @param onLost another process holds it
 */
export async function holdLease(
  store: Pick<MqttStore, 'lease' | 'release'>,
  token: string,
  { logger, onLost }: { readonly logger: Logger; readonly onLost: () => void },
): Promise<{ release(): Promise<void> }> {
  for (let reported = false; ; ) {
    // While Redis is away no other process can take it either.
    const held = await store.lease(token, TTL_MS).catch(() => undefined);
    if (held === true) break;
    if (held === false && !reported) {
      reported = true;
      logger.info('another publisher is at work, waiting until it ends');
    }
    await sleep(ASK_MS);
  }
  const timer = setInterval(async () => {
    if ((await store.lease(token, TTL_MS).catch(() => undefined)) === false) onLost();
  }, TTL_MS / RENEWALS);
  return {
    async release() {
      clearInterval(timer);
      await store.release(token);
    },
  };
}
