/** Stopwatch of a comparison: wall time and span per step, and cancellation between steps. */

import { ScenedeltaError } from '../errors.js';
import type { TimingsMs } from '../schemas/comparison.js';
import { traced } from '../tracing.js';

export interface Stopwatch {
  /** milliseconds per step, summed over its runs */
  readonly timings: Partial<TimingsMs>;
  /** Runs `work` and adds its time to the step. @throws ScenedeltaError cancelled, if the signal was aborted before */
  step<T>(name: keyof TimingsMs, work: () => Promise<T>): Promise<T>;
}

/** @param signal is read before each step; a step that runs is not interrupted */
export function stopwatch(signal: AbortSignal | undefined): Stopwatch {
  const timings: Partial<TimingsMs> = {};
  return {
    timings,
    async step(name, work) {
      if (signal?.aborted) throw new ScenedeltaError('cancelled', `cancelled before ${name}`);
      const start = performance.now();
      try {
        return await traced(name, work);
      } finally {
        timings[name] = (timings[name] ?? 0) + performance.now() - start;
      }
    },
  };
}
