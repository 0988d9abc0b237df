/** One page of the changes that answer a query. */
import { invalidValue } from '../../base/errors.js';
import { present } from '../../base/present.js';
import type { Change } from '../../schemas/change.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { SearchVector } from '../../schemas/search-vector.js';
import { inEnglish } from '../../search/foreign.js';
import type { Hit } from '../../search/search-index.js';
import { sentencesOf } from '../../search/texts.js';
import type { QueryVector } from '../../search/vector-list.js';
import { type ChangeQuery, type ChangeStore, fitsQuery } from '../../stores/changes/changes.js';
import { decodeCursor, encodeCursor } from '../../stores/redis/pages.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import type { ListedChange, SearchSummary } from '../schemas/change-search.js';
import type { LiveSearch } from './live-index.js';
import type { QueryVectors } from './query-vectors.js';

export interface SearchPageQuery extends Omit<ChangeQuery, 'visibility'> {
  readonly q?: string;
  /** id of a change */
  readonly like?: string;
}

const SCORE_DIGITS = 5;
const COSINE_DIGITS = 3;
/**
 * Least cosine of a change that is like another one and shares no word with it. On the development pairs, 6 % of the
 * couples of changes of different things reach it, and 18 % of those of the same thing.
 */
const LIKE_LEAST = 0.7;

/**
 * @param find reads a change, and throws 'not-found' for one that the request may not see
 * @throws ScenedeltaError 'invalid-value' if both `q` and `like` are given; 'not-found' for `like`
 */
export async function searchPage(
  query: SearchPageQuery,
  visibility: Visibility,
  deps: {
    readonly search: Pick<LiveSearch, 'search' | 'drop'>;
    readonly queryVectors: QueryVectors;
    readonly changes: Pick<ChangeStore, 'many'>;
    readonly find: (id: string) => Promise<Change>;
  },
): Promise<{ items: ListedChange[]; nextCursor: string | null; search: SearchSummary }> {
  const { q, like, zone, kind, severity, since, until, limit } = query;
  if (q !== undefined && like !== undefined) {
    throw invalidValue('q and like are both given: expected one of them', 'like');
  }
  const { text, read } =
    like === undefined ? inEnglish(q ?? '') : { text: sentencesOf(await deps.find(like))[0] ?? '', read: [] };
  const isSeen = (camera: string) =>
    seesCamera(visibility, camera) && (query.camera === undefined || query.camera === camera);
  const filter = {
    ...(visibility === 'everything' && query.camera === undefined ? {} : { camera: isSeen }),
    ...(like === undefined ? {} : { except: like }),
    ...present({ zone, kind, severity, since, until }),
  };
  const asked = like === undefined ? deps.queryVectors(text) : null;
  let wordsAlone: SearchSummary['words_alone'] = null;
  const found = await deps.search.search(text, filter, async (index) => {
    const vector = asked === null ? likeVector(index.vectorOf(like ?? '')) : await asked;
    if (!('missing' in vector)) return vector;
    wordsAlone = vector.missing;
    return undefined;
  });
  const items: ListedChange[] = [];
  let at = startOf(found.hits, query.cursor);
  while (items.length < limit && at < found.hits.length) {
    const part = found.hits.slice(at, at + limit - items.length);
    const changes = await deps.changes.many(part.map(({ id }) => id));
    deps.search.drop(part.filter((_hit, i) => changes[i] === undefined).map(({ id }) => id));
    for (const [i, hit] of part.entries()) {
      const change = changes[i];
      // The change may have been altered since it was indexed.
      if (change === undefined || !seesCamera(visibility, change.camera) || !fitsQuery(change, query)) continue;
      items.push({ ...roundFigures(change), match: matchOf(hit) });
    }
    at += part.length;
  }
  const last = found.hits[at - 1];
  return {
    items,
    nextCursor: at < found.hits.length && last !== undefined ? encodeCursor({ at, id: last.id }) : null,
    search: {
      // The words of `like` are those of a caption, so there is nothing to explain.
      interpreted_as: [
        ...read.map(({ word, as }) => ({ word, as: [as], by: 'translation' as const })),
        ...(like === undefined ? found.interpretedAs.map((one) => ({ ...one, as: [...one.as] })) : []),
      ],
      unknown_words: like === undefined ? [...found.unknownWords] : [],
      all_words: like !== undefined || found.allWords,
      complete: found.complete,
      changes: found.changes,
      compared_vectors: found.compared,
      words_alone: wordsAlone,
    },
  };
}

const likeVector = (sought: SearchVector | undefined): QueryVector | { readonly missing: 'no_vector' } =>
  sought === undefined ? { missing: 'no_vector' } : { ...sought, least: LIKE_LEAST };

const matchOf = ({ score, words, cosine }: Hit): ListedChange['match'] => ({
  score: Number(score.toFixed(SCORE_DIGITS)),
  words: [...words],
  ...(cosine === undefined ? {} : { cosine: Number(cosine.toFixed(COSINE_DIGITS)) }),
});

/** The hit after that of the cursor: after its id, or at its position if that change is no hit any more. */
function startOf(hits: readonly Hit[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const { at, id } = decodeCursor(cursor);
  const found = hits.findIndex((hit) => hit.id === id);
  return found < 0 ? at : found + 1;
}
