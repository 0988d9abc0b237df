/** Index of changes in memory, and the search in it: filters, words, and the fusion of ranked lists. */
import { ChangeGroups, type NamesOf } from './groups.js';
import { type Interpretation, readQuery } from './query.js';
import { isInScope, type SearchFilter, scopeOf, wordsInScope } from './scope.js';
import type { SearchedChange } from './texts.js';
import { type MatchedWord, rankByWords } from './word-ranking.js';

/** Rank constant of the fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009. */
const RANK_CONSTANT = 60;
/** Hits of one search. */
const MOST_HITS = 1_000;

export interface Hit {
  readonly id: string;
  /** sum of 1 / (60 + rank) over the ranked lists that have the change */
  readonly score: number;
  readonly words: readonly MatchedWord[];
}
export interface SearchResult {
  /** the best first, at most MOST_HITS */
  readonly hits: readonly Hit[];
  readonly interpretedAs: readonly Interpretation[];
  readonly unknownWords: readonly string[];
  /** number of changes that pass the filter */
  readonly changes: number;
}

export class SearchIndex {
  readonly #changes: ChangeGroups;

  /** @param most changes that are kept; the earliest ones are dropped */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#changes = new ChangeGroups(most);
  }

  get size(): number {
    return this.#changes.size;
  }
  has(id: string): boolean {
    return this.#changes.entry(id) !== undefined;
  }
  /** Adds a change, or replaces what is indexed of it. */
  put(change: SearchedChange): void {
    this.#changes.put(change);
  }
  remove(id: string): void {
    this.#changes.remove(id);
  }
  clear(): void {
    this.#changes.clear();
  }
  /** Replaces the names of cameras and zones, which people may alter at any time. */
  setNames(namesOf: NamesOf): void {
    this.#changes.setNames(namesOf);
  }

  search(text: string, filter: SearchFilter = {}): SearchResult {
    const changes = this.#changes;
    const scope = scopeOf(changes, filter);
    const query = readQuery(text, {
      has: (term) => isInScope(term, changes, scope),
      words: () => wordsInScope(changes, scope),
    });
    const ranked = rankByWords(query, changes, scope, { filter, most: MOST_HITS });
    const hits = ranked.map(({ entry, words }, i) => ({ id: entry.id, score: 1 / (RANK_CONSTANT + i + 1), words }));
    return { hits, interpretedAs: query.interpretedAs, unknownWords: query.unknownWords, changes: scope.changes };
  }
}
