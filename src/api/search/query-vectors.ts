/** Search vectors of queries: asked of a worker, which has the model, within a bounded time, and cached. */
import { LRUCache } from 'lru-cache';
import { within } from '../../base/within.js';
import type { Answers, QuestionOf } from '../../jobs/questions.js';
import type { QueryVector } from '../../search/vector-list.js';

/** The vector of a query; or the reason why the search is by words alone. */
export type EmbeddedQuery = QueryVector | { readonly missing: 'no_worker' | 'no_graph' };

export type QueryVectors = ReturnType<typeof createQueryVectors>;

const WAIT_MS = 500;
/** After a search waited in vain, others do not wait for so long, unless a worker answers meanwhile. */
const DOUBT_MS = 5_000;
const CACHED = 1_000;
/** After an upgrade of the model, queries get vectors of the new one within this time. */
const CACHED_MS = 60_000;

export function createQueryVectors(
  { ask: askWorker }: { readonly ask: (question: QuestionOf<'embed'>) => Promise<Answers['embed']> },
  { waitMs = WAIT_MS }: { waitMs?: number } = {},
) {
  const cache = new LRUCache<string, { readonly vector: QueryVector | null }>({ max: CACHED, ttl: CACHED_MS });
  const asked = new Map<string, Promise<QueryVector | null>>();
  let doubtedUntil = 0;

  /** Equal queries that wait share one question. A late answer is cached for the next search. */
  const embed = (text: string): Promise<QueryVector | null> => {
    const waiting = asked.get(text);
    if (waiting !== undefined) return waiting;
    const answer = askWorker({ kind: 'embed', text }).then((given) => {
      const vector = given && { ...given, values: Float32Array.from(given.values) };
      cache.set(text, { vector });
      doubtedUntil = 0;
      return vector;
    });
    asked.set(text, answer);
    const end = () => asked.delete(text);
    answer.then(end, end);
    return answer;
  };

  /** @param text as it was typed. @returns within `waitMs`; it never rejects */
  return async (text: string): Promise<EmbeddedQuery> => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached.vector ?? { missing: 'no_graph' };
    try {
      const answer = embed(text);
      if (performance.now() < doubtedUntil) return { missing: 'no_worker' };
      const vector = await within(waitMs, answer, undefined);
      if (vector === undefined) {
        doubtedUntil = performance.now() + DOUBT_MS;
        return { missing: 'no_worker' };
      }
      return vector ?? { missing: 'no_graph' };
    } catch {
      return { missing: 'no_worker' };
    }
  };
}
