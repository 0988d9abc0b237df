/** Stopwatch of a comparison: wall time and span per step, and cancellation between steps. */
import { startDeadline } from '../base/deadline.js';
import { ScenedeltaError } from '../base/errors.js';
import { traced } from '../process/tracing.js';
import type { TimingsMs } from '../schemas/comparison.js';

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

/**
 * Settles as `work` does, or rejects after `seconds`. A graph that runs cannot be interrupted, so `work` goes on until
 * its next step and keeps its buffers until then; it has no effect any more.
 * @param signal of the caller, which is passed on to `work`
 * @throws ScenedeltaError processing-timeout; or the error of `work`
 */
export async function withTimeLimit<T>(
  seconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(seconds * 1000, signal);
  const expired = new Promise<never>((_resolve, reject) => {
    deadline.signal.addEventListener('abort', () => {
      if (deadline.expired) reject(tookTooLong(seconds));
    });
  });
  try {
    return await Promise.race([work(deadline.signal), expired]);
  } finally {
    deadline.end();
  }
}

const tookTooLong = (seconds: number) =>
  new ScenedeltaError(
    'processing-timeout',
    `the comparison had not ended after ${seconds} s, expected an end before that (COMPARISON_TIMEOUT)`,
  );
