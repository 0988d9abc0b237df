/** Waiter for the end of a comparison, and parser of `Prefer` (RFC 7240). */

import { isFinal } from '../../schemas/comparison.js';
import { endsComparison } from '../../schemas/stream-event.js';
import type { EventReader } from '../../stores/events.js';
import type { ResultStore, StoredComparison } from '../../stores/results.js';

/** Wait without a `Prefer` header. */
export const DEFAULT_WAIT_SECONDS = 10;

export interface Preference {
  readonly waitSeconds: number;
  /** value of Preference-Applied; undefined if no preference was sent */
  readonly applied: string | undefined;
}

/**
 * Parses `respond-async` and `wait=N`; both together mean to wait N seconds, then answer 202. RFC 7240: others are
 * ignored.
 */
export function parsePrefer(header: string | undefined, waitLimit: number): Preference {
  const preferences = new Map(
    (header ?? '').split(',').map((text) => {
      const [name = '', value = ''] = (text.split(';')[0] ?? '').split('=').map((part) => part.trim());
      return [name.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
    }),
  );
  const wait = preferences.get('wait');
  if (wait !== undefined && /^\d{1,9}$/.test(wait)) {
    const waitSeconds = Math.min(Number(wait), waitLimit);
    return { waitSeconds, applied: `wait=${waitSeconds}` };
  }
  if (preferences.has('respond-async')) return { waitSeconds: 0, applied: 'respond-async' };
  return { waitSeconds: Math.min(DEFAULT_WAIT_SECONDS, waitLimit), applied: undefined };
}

/** Interval of reading the store, in case an event was lost. */
const REREAD_MS = 2_000;

export interface OutcomeWaiter {
  /**
   * Waits until the comparison is final, `seconds` have passed or `signal` aborts.
   * @returns the comparison at that time; undefined if it was erased
   * @throws ScenedeltaError 'queue-unavailable'
   */
  until(id: string, seconds: number, signal: AbortSignal): Promise<StoredComparison | undefined>;
  /** Ends every wait at once, when the service closes. */
  release(): void;
}

export function createOutcomeWaiter(deps: { events: EventReader; results: Pick<ResultStore, 'get'> }): OutcomeWaiter {
  const waiting = new Set<() => void>();
  /** Resolves at the final event, after `ms`, on abort, or on release. */
  const nextChange = (id: string, ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        unsubscribe();
        signal.removeEventListener('abort', done);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      const unsubscribe = deps.events.on(({ event }) => {
        if ('comparisonId' in event && event.comparisonId === id && endsComparison(event.type)) done();
      });
      signal.addEventListener('abort', done);
      waiting.add(done);
    });

  let released = false;
  return {
    async until(id, seconds, signal) {
      const end = Date.now() + seconds * 1000;
      for (;;) {
        const left = end - Date.now();
        const over = left <= 0 || released || signal.aborted;
        // Subscribed before the store is read, so that no event in between is missed.
        const change = over ? undefined : nextChange(id, Math.min(left, REREAD_MS), signal);
        const stored = await deps.results.get(id);
        if (change === undefined || stored === undefined || isFinal(stored.comparison.status)) {
          return stored;
        }
        await change;
      }
    },
    release() {
      released = true;
      for (const done of [...waiting]) done();
    },
  };
}
