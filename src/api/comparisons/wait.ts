/** Waiting for a comparison to end, and what `Prefer` asks for (RFC 7240). */

import { isFinal } from '../../schemas/comparison.js';
import { endsComparison } from '../../schemas/stream-event.js';
import type { EventReader } from '../../stores/events.js';
import type { ResultStore, StoredComparison } from '../../stores/results.js';

/** Where the header says nothing. */
export const DEFAULT_WAIT_SECONDS = 10;

export interface Preference {
  readonly waitSeconds: number;
  /** value for Preference-Applied; undefined where nothing was asked for */
  readonly applied: string | undefined;
}

/** `respond-async` and `wait=N`; both together mean: wait that long, then answer 202. Anything else is ignored, as RFC 7240 asks. */
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

/** Should an event get lost, the store tells. */
const REREAD_MS = 2_000;

/** Ends every wait at once, when the service closes. */
export interface OutcomeWaiter {
  /**
   * @returns the comparison as it stands when it became final, `seconds` passed or `signal` fired; undefined where it was erased.
   * @throws ScenedeltaError 'queue-unavailable'
   */
  until(id: string, seconds: number, signal: AbortSignal): Promise<StoredComparison | undefined>;
  /** Lets everybody who waits go. */
  release(): void;
}

export function createOutcomeWaiter(deps: {
  events: EventReader;
  results: Pick<ResultStore, 'get'>;
}): OutcomeWaiter {
  const waiting = new Set<() => void>();
  /** Resolves when the event came, the time is over or somebody lets go. */
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
        // Subscribed before the store is read: what happens in between is heard.
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
