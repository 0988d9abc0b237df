/** Time limit of a promise. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @returns the outcome of `work`, or `late` if it takes longer than `ms`; the work goes on then */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const ended = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, late, { signal: ended.signal })]);
  } finally {
    ended.abort();
  }
}
