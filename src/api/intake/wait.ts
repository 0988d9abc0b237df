/** Waiter for the end of a comparison, and parser of `Prefer` (RFC 7240). */
import { systemClock } from '../../base/clock.js';
import { isFinal } from '../../schemas/comparison.js';
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
   * Follows the comparison from now on, so that no end is missed however fast it comes.
   * @param seconds that its end is waited for; with 0, events are not read
   */
  follow(id: string, seconds: number): Following;
  /** Ends every wait at once, when the service closes. */
  release(): void;
}

interface Following {
  /**
   * Waits until the comparison is final, the seconds have passed or `signal` aborts.
   * @param accepted the comparison if it was created after the following began; it is read again only for its end
   * @returns the comparison at that time; undefined if it was erased
   * @throws ScenedeltaError 'queue-unavailable'
   */
  until(signal: AbortSignal, accepted?: StoredComparison): Promise<StoredComparison | undefined>;
  /** Must be called, whether the comparison has ended or not. */
  stop(): void;
}

export function createOutcomeWaiter(deps: { events: EventReader; results: Pick<ResultStore, 'get'> }): OutcomeWaiter {
  const waiting = new Set<() => void>();
  let released = false;

  const follow = (id: string, seconds: number): Following => {
    let ended = false;
    let wake = () => {};
    const hear: Parameters<EventReader['on']>[0] = ({ event }) => {
      if (event.subject.id !== id || !endsComparison(event.type)) return;
      ended = true;
      wake();
    };
    const stop = seconds > 0 ? deps.events.on(hear) : () => {};
    /** Resolves at the end of the comparison, after `ms`, on abort, or on release. */
    const pause = (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal.addEventListener('abort', done);
        waiting.add(done);
        wake = done;
      });

    return {
      stop,
      async until(signal, accepted) {
        const end = systemClock() + seconds * 1000;
        for (let stored = accepted; ; stored = undefined) {
          if (stored === undefined || ended) {
            ended = false;
            stored = await deps.results.get(id);
          }
          const left = end - systemClock();
          if (stored === undefined || isFinal(stored.comparison.status)) return stored;
          if (left <= 0 || released || signal.aborted) return stored;
          if (!ended) await pause(Math.min(left, REREAD_MS), signal);
        }
      },
    };
  };

  return {
    follow,
    release() {
      released = true;
      for (const done of [...waiting]) done();
    },
  };
}
