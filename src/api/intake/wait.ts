/** Waiter for the end of a comparison, and parser of `Prefer` (RFC 7240). */
import { systemClock } from '../../base/clock.js';
import { isFinal } from '../../schemas/finding.js';
import { endsComparison } from '../../schemas/stream-event.js';
import type { ResultStore, StoredComparison } from '../../stores/comparisons/results.js';
import type { EventReader } from '../../stores/delivery/events.js';

const DEFAULT_WAIT_SECONDS = 10;

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

/** Interval of reading the store during a wait, in case Redis lost the event, e.g. when another server took over. */
const REREAD_MS = 10_000;

export interface OutcomeWaiter {
  /**
   * Waits until the comparison is final, the seconds have passed or `signal` aborts.
   * @returns the comparison at that time; undefined if it was erased
   * @throws ScenedeltaError 'queue-unavailable'
   */
  outcome(id: string, seconds: number, signal: AbortSignal): Promise<StoredComparison | undefined>;
  /** Ends every wait at once, when the service closes. */
  release(): void;
}

export function createOutcomeWaiter(deps: { events: EventReader; results: Pick<ResultStore, 'get'> }): OutcomeWaiter {
  const waiting = new Set<() => void>();
  let released = false;

  /** Resolves after `ms`, on abort, on release, or when the returned function is called. */
  const pause = (ms: number, signal: AbortSignal): { readonly over: Promise<void>; wake(): void } => {
    let wake = () => {};
    const over = new Promise<void>((resolve) => {
      wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener('abort', wake);
      waiting.add(wake);
    });
    return { over, wake };
  };

  return {
    async outcome(id, seconds, signal) {
      const end = systemClock() + seconds * 1000;
      let ended = false;
      let wake = () => {};
      // Before the store is read, so that no end is missed.
      const stop = deps.events.on(({ event }) => {
        if (event.subject.id !== id || !endsComparison(event.type)) return;
        ended = true;
        wake();
      });
      try {
        for (;;) {
          ended = false;
          const stored = await deps.results.get(id);
          const left = end - systemClock();
          if (stored === undefined || isFinal(stored.comparison.status)) return stored;
          if (left <= 0 || released || signal.aborted) return stored;
          if (ended) continue;
          const paused = pause(Math.min(left, REREAD_MS), signal);
          wake = paused.wake;
          await paused.over;
        }
      } finally {
        stop();
      }
    },
    release() {
      released = true;
      for (const wake of [...waiting]) wake();
    },
  };
}
