/** Repeated reading while a view is open. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, messageOf } from '../api/client.js';
import { recoveries } from '../api/connection.js';

/**
 * Reads at once, after each pause, and when the service came back. A thing that is gone (404) is not read again.
 * @param pause of the time after a reading, ms; null: no further reading
 * @param keys a change of one restarts it with the functions of that rendering
 * @returns why the last reading failed; empty if it did not
 */
export function usePolling(
  read: () => Promise<unknown>,
  pause: () => number | null,
  keys: readonly unknown[] = [],
): ReadonlySignal<string> {
  const fault = useSignal('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let open = true;
    const round = async () => {
      let isGone = false;
      try {
        await read();
        fault.value = '';
      } catch (error) {
        fault.value = messageOf(error);
        isGone = error instanceof ApiError && error.status === 404;
      }
      const again = isGone ? null : pause();
      // Only the later of two rounds goes on: one may have begun because the service came back.
      clearTimeout(timer);
      if (open && again !== null) timer = setTimeout(round, again);
    };
    const stop = recoveries.subscribe(() => void round());
    return () => {
      open = false;
      clearTimeout(timer);
      stop();
    };
  }, keys);
  return fault;
}
