/** Costly answers that count towards no quota: simultaneous calls share one, and they use a part of a core. */
import { setTimeout as pause } from 'node:timers/promises';

/** Rest after a call, in multiples of the time that it took. */
const REST = 4;

/** @returns the call; while one is pending, later callers get its result */
export function whilePending<T>(call: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  let restsUntil = 0;
  const run = async () => {
    const restMs = restsUntil - performance.now();
    if (restMs > 0) await pause(restMs);
    const startedAt = performance.now();
    try {
      return await call();
    } finally {
      pending = undefined;
      const endedAt = performance.now();
      restsUntil = endedAt + REST * (endedAt - startedAt);
    }
  };
  return () => {
    pending ??= run();
    return pending;
  };
}
