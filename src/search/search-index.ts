/** Index of changes in memory, and the search in it: filters, words, vectors, and the fusion of both. */
import type { SearchVector } from '../schemas/search-vector.js';
import { isOpposite } from './directions.js';
import { ChangeGroups, type Entry, type NamesOf } from './groups.js';
import { type Interpretation, type Query, readQuery } from './query.js';
import { isInScope, passes, type Scope, type SearchFilter, scopeOf, takesAll, wordsInScope } from './scope.js';
import type { SearchedChange } from './texts.js';
import { type Near, type QueryVector, VectorList } from './vector-list.js';
import { type MatchedWord, type RankedEntry, rankByWords } from './word-ranking.js';

/** Hits of one search. */
const MOST_HITS = 1_000;

export interface Hit extends Omit<FoundEntry, 'entry'> {
  readonly id: string;
}
export interface SearchResult {
  /** the best first, at most MOST_HITS */
  readonly hits: readonly Hit[];
  readonly interpretedAs: readonly Interpretation[];
  readonly unknownWords: readonly string[];
  /** whether a hit has all words that were understood, and there are no others */
  readonly allWords: boolean;
  /** number of changes that pass the filter */
  readonly changes: number;
  /** number of them whose vector was compared with that of the query */
  readonly compared: number;
}

export class SearchIndex {
  readonly #changes: ChangeGroups;
  readonly #vectors = new VectorList();

  /** @param most changes that are kept; the earliest ones are dropped */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#changes = new ChangeGroups(most, (id) => this.#vectors.remove(id));
  }

  get size(): number {
    return this.#changes.size;
  }
  has(id: string): boolean {
    return this.#changes.entry(id) !== undefined;
  }
  /** Adds a change, or replaces what is indexed of it. @param vector absent: the change has none */
  put(change: SearchedChange, vector?: SearchVector): void {
    this.#changes.put(change);
    const entry = this.#changes.entry(change.id);
    if (entry !== undefined && vector !== undefined) this.#vectors.put(entry, vector);
  }
  vectorOf(id: string): SearchVector | undefined {
    return this.#vectors.vectorOf(id);
  }
  remove(id: string): void {
    this.#changes.remove(id);
  }
  clear(): void {
    this.#changes.clear();
    this.#vectors.clear();
  }
  /** Replaces the names of cameras and zones, which people may alter at any time. */
  setNames(namesOf: NamesOf): void {
    this.#changes.setNames(namesOf);
  }

  /**
   * @param vector of the query; absent: words alone. It reorders the changes that the words find, and adds those that
   *   are near enough. A query without any known word finds nothing.
   */
  search(text: string, filter: SearchFilter = {}, vector?: QueryVector): SearchResult {
    const changes = this.#changes;
    const scope = scopeOf(changes, filter);
    const query = readQuery(text, {
      has: (term) => isInScope(term, changes, scope),
      words: () => wordsInScope(changes, scope),
    });
    const words = rankByWords(query, changes, scope, { filter, most: MOST_HITS });
    const { near, compared } = this.#nearest(query, words, { scope, filter, vector });
    const hits = fuse(query, words, near, MOST_HITS).map(({ entry, ...hit }) => ({ id: entry.id, ...hit }));
    const hasAll = (hit: Hit) => new Set(hit.words.map(({ word }) => word)).size === query.items.length;
    return {
      hits,
      allWords: query.unknownWords.length === 0 && hits.some(hasAll),
      interpretedAs: query.interpretedAs,
      unknownWords: query.unknownWords,
      changes: scope.changes,
      compared,
    };
  }

  /** @returns the changes that the words find, if they have a vector, and those that are near enough without */
  #nearest(
    query: Query,
    words: readonly RankedEntry[],
    { scope, filter, vector }: { scope: Scope; filter: SearchFilter; vector: QueryVector | undefined },
  ): { near: Near[]; compared: number } {
    // A query without any known word is answered by nothing, however near a change is.
    if (vector === undefined || query.items.length === 0) return { near: [], compared: 0 };
    const given = words.map(({ entry }) => entry);
    const takes = takesAll(filter) ? null : (entry: Entry) => scope.ofGroup(entry.group) > 0 && passes(entry, filter);
    return this.#vectors.nearest(vector, takes, given, MOST_HITS);
  }

  /** @returns all changes with a vector of this bundle, the nearest first */
  nearest(vector: SearchVector): Near[] {
    return this.#vectors.nearest({ ...vector, least: -Infinity }, null, [], this.size).near;
  }
}

/** Rank constant: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009. */
const RANK_CONSTANT = 60;

/** A change that a search found. */
interface FoundEntry {
  readonly entry: Entry;
  /** sum of 1 / (60 + rank) over the ranked lists that have the change */
  readonly score: number;
  readonly words: readonly MatchedWord[];
  /** with the vector of the query; absent: the change has no comparable vector */
  readonly cosine?: number;
  /** whether it states the opposite of the query; such changes come last */
  readonly opposite: boolean;
}

/**
 * @param near the nearest first
 * @returns the best first, at most `most`; equal ones by time, the latest first
 */
function fuse(query: Query, words: readonly RankedEntry[], near: readonly Near[], most: number): FoundEntry[] {
  const found = new Map<Entry, FoundEntry>();
  for (const { entry, words: matched, rank, opposite } of words) {
    found.set(entry, { entry, score: 1 / (RANK_CONSTANT + rank), words: matched, opposite });
  }
  for (const [i, { entry, cosine }] of near.entries()) {
    const byWords = found.get(entry);
    found.set(entry, {
      entry,
      score: (byWords?.score ?? 0) + 1 / (RANK_CONSTANT + i + 1),
      words: byWords?.words ?? [],
      cosine,
      opposite: byWords?.opposite ?? isOpposite(query.directions, entry.group.text.directions, query.nouns),
    });
  }
  return [...found.values()].sort(bestFirst).slice(0, most);
}

const bestFirst = (a: FoundEntry, b: FoundEntry): number =>
  Number(a.opposite) - Number(b.opposite) ||
  b.score - a.score ||
  b.entry.confirmed - a.entry.confirmed ||
  (a.entry.id < b.entry.id ? 1 : -1);
