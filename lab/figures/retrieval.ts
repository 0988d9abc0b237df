/**
 * Retrieval: how often a search for what people wrote about a pair finds this pair among all pairs. The definition is
 * in README.md.
 */
import type { Proportion } from './statistics.js';
import { proportionOf } from './statistics.js';

export const RECALL_AT = [1, 5, 10] as const;

interface RetrievalRow {
  readonly name: string;
  /** per RECALL_AT the share of queries whose pair is among as many first ones */
  readonly recall: readonly Proportion[];
}
export interface Retrieval {
  /** references of changed pairs */
  readonly queries: number;
  /** all pairs */
  readonly gallery: number;
  /** per RECALL_AT the expected recall of a random order */
  readonly chance: readonly number[];
  readonly rows: readonly RetrievalRow[];
}

/**
 * @param scores of the pairs that the search found, one per pair; the others are equal behind them
 * @param sought the pair that the query is about
 * @param gallery number of pairs
 * @returns 1 + number of better pairs + half of the equal ones
 */
export function rankOf(scores: ReadonlyMap<string, number>, sought: string, gallery: number): number {
  const score = scores.get(sought);
  if (score === undefined) return 1 + scores.size + (gallery - scores.size - 1) / 2;
  let [greater, equal] = [0, -1];
  for (const other of scores.values()) {
    if (other > score) greater++;
    else if (other === score) equal++;
  }
  return 1 + greater + equal / 2;
}

/** @param ranks per way to search, one rank per query */
export function retrievalFigures(gallery: number, ranks: Readonly<Record<string, readonly number[]>>): Retrieval {
  const [first = []] = Object.values(ranks);
  return {
    queries: first.length,
    gallery,
    chance: RECALL_AT.map((k) => Math.min(1, k / gallery)),
    rows: Object.entries(ranks).map(([name, of]) => ({
      name,
      recall: RECALL_AT.map((k) => proportionOf(of.map((rank) => rank <= k))),
    })),
  };
}
