/** A pause of a loop that ends early when something comes. */
import { setTimeout as sleep } from 'node:timers/promises';

export function createPause() {
  let ending = new AbortController();
  return {
    /** Ends at once if something came since the pause before. */
    async wait(ms: number): Promise<void> {
      await sleep(ms, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) ending = new AbortController();
    },
    end: () => ending.abort(),
  };
}
