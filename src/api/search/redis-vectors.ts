/**
 * Search vectors of the index in vector sets of Redis, for more changes than the memory of each API process should
 * hold. The set proposes candidates; their cosines are computed from the stored vectors, so an answer differs from that
 * of the vectors in memory by candidates that the set missed, and by nothing else.
 */
import type { SearchVector } from '../../schemas/search-vector.js';
import { type ChangeVectors, cosineAt, type Near, type NearestQuery, nearestOf } from '../../search/change-vectors.js';
import type { Entry } from '../../search/groups.js';
import { takesOf } from '../../search/scope.js';
import type { ChangeStore } from '../../stores/changes.js';
import { filterExpression } from '../../stores/vector-filter.js';
import type { VectorSets } from '../../stores/vector-sets.js';

/** If no more changes than these pass a filter, all of them are compared: a set finds few among many slowly. */
const ALL_COMPARED = 5_000;
/** Factor by which more candidates are asked for while too few of them pass the filter. */
const MORE = 4;
/** Most candidates of a search. */
const MOST_CANDIDATES = 16_000;
/** Difference of a cosine of the set to that of the stored vectors, at most; an element has 8 bits per number. */
const TOLERANCE = 0.02;

interface Candidates {
  /** changes that pass the filter; of a set, roughly the nearest */
  readonly entries: Entry[];
  readonly ofSet: boolean;
  /** elements of the set that are not indexed: not yet, or because their change expired */
  readonly unknown: readonly string[];
}

/** @param options.allCompared number of changes up to which the stored vectors of all are compared without the set */
export function createRedisVectors(
  deps: {
    readonly sets: Pick<VectorSets, 'fill' | 'similar' | 'prune'>;
    readonly changes: Pick<ChangeStore, 'vectors'>;
  },
  { allCompared = ALL_COMPARED }: { allCompared?: number } = {},
): ChangeVectors {
  let pending = new Map<string, { entry: Entry; vector: SearchVector }>();

  const stored = async () => {
    const all = [...pending.values()];
    pending = new Map();
    await deps.sets.fill(
      all.map(({ entry: { id, confirmed, group }, vector }) => {
        const { camera, zone } = group.place;
        return { change: { id, camera, zone, confirmed_at: new Date(confirmed).toISOString() }, vector };
      }),
    );
  };

  const candidatesOf = async ({ vector, filter, scope, entry, most }: NearestQuery): Promise<Candidates> => {
    const takes = takesOf(filter, scope);
    if (scope.changes <= allCompared) return { entries: entriesOf(scope).filter(takes), ofSet: false, unknown: [] };
    const { zone, since, until } = filter;
    const cameras = filter.camera && [...new Set([...scope.places].map(({ camera }) => camera))];
    const expression = filterExpression({ cameras, zone, since, until });
    const least = vector.least - TOLERANCE;
    for (let count = most; ; count = Math.min(MORE * count, MOST_CANDIDATES)) {
      const found = await deps.sets.similar(vector, { count, filter: expression });
      const known = found.map(({ id }) => entry(id));
      const fitting = known.filter((one, i) => one !== undefined && takes(one) && (found[i]?.cosine ?? -1) >= least);
      const isAll = found.length < count || (found.at(-1)?.cosine ?? -1) < least;
      if (fitting.length < most && !isAll && count < MOST_CANDIDATES) continue;
      const unknown = found.filter((_one, i) => known[i] === undefined).map(({ id }) => id);
      return { entries: fitting as Entry[], ofSet: true, unknown };
    }
  };

  return {
    put: (entry, vector) => {
      pending.set(entry.id, { entry, vector });
    },
    // The step that erases a change removes its element. A change that only leaves the index keeps it.
    remove: (id) => {
      pending.delete(id);
    },
    clear: () => pending.clear(),
    stored,
    vectorOf: async (id) => (await deps.changes.vectors([id]))[0],
    nearest: async (query) => {
      const { bundle, values, least } = query.vector;
      const given = new Set(query.given);
      const candidates = await candidatesOf(query);
      const all = [...new Set([...given, ...candidates.entries])];
      const vectors = await deps.changes.vectors(all.map(({ id }) => id));
      const near: Near[] = [];
      const others: Near[] = [];
      const stale = [...candidates.unknown];
      let compared = 0;
      for (const [i, entry] of all.entries()) {
        const own = vectors[i];
        if (own?.bundle !== bundle || own.values.length !== values.length) {
          if (candidates.ofSet && !given.has(entry)) stale.push(entry.id);
          continue;
        }
        compared++;
        const cosine = cosineAt(values, own.values, 0);
        if (given.has(entry)) near.push({ entry, cosine });
        else if (cosine >= least) others.push({ entry, cosine });
      }
      await deps.sets.prune(query.vector, stale);
      return { near: nearestOf(near, others, query.most), compared };
    },
  };
}

const entriesOf = ({ places }: NearestQuery['scope']): Entry[] =>
  [...places].flatMap(({ groups }) => [...groups].flatMap(({ entries }) => [...entries]));
