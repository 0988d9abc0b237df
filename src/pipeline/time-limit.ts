/** Time limit of a comparison. */
import { startDeadline } from '../deadline.js';
import { ScenedeltaError } from '../errors.js';

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
