/** Fusion of the changes that words find and those that are near the vector of a query. */
import { isOpposite } from './directions.js';
import type { Entry } from './groups.js';
import type { Query } from './query.js';
import type { Near } from './vector-list.js';
import type { MatchedWord, RankedEntry } from './word-ranking.js';

/** Rank constant: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009. */
const RANK_CONSTANT = 60;

/** A change that a search found. */
export interface FoundEntry {
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
export function fuse(query: Query, words: readonly RankedEntry[], near: readonly Near[], most: number): FoundEntry[] {
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
