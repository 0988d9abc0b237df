/** Searches for labelled pairs by their references, with the index that serves the search of changes. */

import { type Hit, SearchIndex } from '../../src/search/search-index.js';
import type { Pair } from '../figures/pairs.js';
import type { Prediction } from '../figures/predictions.js';
import { type Retrieval, rankOf, retrievalFigures } from '../figures/retrieval.js';

/** Search vectors of one bundle. */
export interface Vectors {
  readonly bundle: string;
  /** one per pair; null: the pair has no change, or no vector */
  readonly pairs: readonly (Float32Array | null)[];
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** cosine below which a change is no answer */
  readonly least: number;
}

/**
 * The pairs that were answered with a change or a tampering are searched, as changes of one camera and one moment.
 * @returns null if no changed pair has a reference
 */
export async function findPairs(
  pairs: readonly Pair[],
  predictions: readonly Prediction[],
  vectors: Vectors | null,
): Promise<Retrieval | null> {
  const queries = pairs.flatMap(({ id, changed, references }) =>
    changed === true ? references.map((text) => ({ id, text })) : [],
  );
  if (queries.length === 0) return null;
  const index = new SearchIndex();
  for (const [i, { id, verdict, kind, caption }] of predictions.entries()) {
    if (verdict !== 'change' && verdict !== 'tamper') continue;
    const values = vectors?.pairs[i] ?? null;
    index.put(
      // A tampering is a kind without a direction, as several kinds together are.
      { ...ONE_PLACE, id, kind: kind === 'none' || kind === 'multi' ? 'tamper' : kind, caption },
      vectors === null || values === null ? undefined : { bundle: vectors.bundle, values },
    );
  }
  const ranksOf = (search: (text: string, i: number) => ReadonlyMap<string, number>): number[] =>
    queries.map(({ id, text }, i) => rankOf(search(text, i), id, pairs.length));
  const words = ranksOf((text) => scoresOf(index.search(text).hits));
  if (vectors === null) return retrievalFigures(pairs.length, { words });
  const texts = await vectors.embed(queries.map(({ text }) => text));
  const vectorOf = (i: number) => ({ bundle: vectors.bundle, values: texts[i] as Float32Array, least: vectors.least });
  return retrievalFigures(pairs.length, {
    words,
    vectors: ranksOf((_text, i) => new Map(index.nearest(vectorOf(i)).map(({ entry, cosine }) => [entry.id, cosine]))),
    both: ranksOf((text, i) => scoresOf(index.search(text, {}, vectorOf(i)).hits)),
  });
}

/** Scores whose order is that of the search: changes that state the opposite come last. */
const scoresOf = (hits: readonly Hit[]): Map<string, number> =>
  new Map(hits.map(({ id, score, opposite }) => [id, score - (opposite ? 1 : 0)]));

const ONE_PLACE = {
  // No name, because names are searched.
  camera: '',
  zone: null,
  severity: 'medium',
  confirmed_at: '2026-01-01T00:00:00Z',
} as const;
