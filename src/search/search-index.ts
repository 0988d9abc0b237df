/** Index of changes, whose words are in memory, and the search in it: filters, words, vectors, and their fusion. */

import type { SearchVector } from '../schemas/search-vector.js';
import type { ChangeVectors, Near, Nearest, QueryVector } from './change-vectors.js';
import { type FoundEntry, fuse } from './fusion.js';
import { ChangeGroups, type NamesOf } from './groups.js';
import { type Interpretation, type Query, readQuery } from './query.js';
import { isInScope, type Scope, type SearchFilter, scopeOf, wordsInScope } from './scope.js';
import type { SearchedChange } from './texts.js';
import { VectorList } from './vector-list.js';
import { type RankedEntry, rankByWords } from './word-ranking.js';

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
  /** number of changes that pass the filter */
  readonly changes: number;
  /** number of them whose own vector was compared with that of the query */
  readonly compared: number;
}

export class SearchIndex {
  readonly #changes: ChangeGroups;
  readonly #vectors: ChangeVectors;

  /**
   * @param most changes that are kept; the earliest ones are dropped
   * @param vectors where their vectors are; default: in memory
   */
  constructor(most = Number.POSITIVE_INFINITY, vectors: ChangeVectors = new VectorList()) {
    this.#vectors = vectors;
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
  /** Ends when the vectors of all changes that were put are stored. */
  stored(): Promise<void> {
    return this.#vectors.stored();
  }
  vectorOf(id: string): Promise<SearchVector | undefined> {
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
  async search(text: string, filter: SearchFilter = {}, vector?: QueryVector): Promise<SearchResult> {
    const changes = this.#changes;
    const scope = scopeOf(changes, filter);
    const query = readQuery(text, {
      has: (term) => isInScope(term, changes, scope),
      words: () => wordsInScope(changes, scope),
    });
    const words = rankByWords(query, changes, scope, { filter, most: MOST_HITS });
    // The numbers of the scope hold until here: another search may begin while vectors are compared.
    const { near, compared } = await this.#nearest(query, words, { scope, filter, vector });
    return {
      hits: fuse(query, words, near, MOST_HITS).map(({ entry, ...hit }) => ({ id: entry.id, ...hit })),
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
  ): Promise<Nearest> {
    // A query without any known word is answered by nothing, however near a change is.
    if (vector === undefined || query.items.length === 0) return Promise.resolve({ near: [], compared: 0 });
    const given = words.map(({ entry }) => entry);
    const entry = (id: string) => this.#changes.entry(id);
    return this.#vectors.nearest({ vector, given, filter, scope, entry, most: MOST_HITS });
  }

  /** @returns all changes with a vector of this bundle, the nearest first */
  async nearest(vector: SearchVector): Promise<Near[]> {
    const { near } = await this.#vectors.nearest({
      ...{ vector: { ...vector, least: -Infinity }, given: [], filter: {}, scope: scopeOf(this.#changes, {}) },
      ...{ entry: (id: string) => this.#changes.entry(id), most: this.size },
    });
    return near;
  }
}
