/** Wall time of a comparison's steps. */

import { ScenedeltaError } from '../errors.js';
import type { TimingsMs } from '../schemas/comparison.js';

/** Times the steps, and starts none after the caller has given up. */
export function stopwatch(signal: AbortSignal | undefined) {
  const timings: Partial<TimingsMs> = {};
  const step = async <T>(name: keyof TimingsMs, work: () => Promise<T>): Promise<T> => {
    if (signal?.aborted) throw new ScenedeltaError('cancelled', `cancelled before ${name}`);
    const start = performance.now();
    try {
      return await work();
    } finally {
      timings[name] = (timings[name] ?? 0) + performance.now() - start;
    }
  };
  return { step, timings };
}
