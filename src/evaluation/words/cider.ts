/**
 * CIDEr-D (Vedantam et al., CVPR 2015) as pycocoevalcap computes it, times 10 as customary: a caption equal to its only
 * reference gets 10, and tables of papers show 100 times the mean. A document of the idf is one pair's set of references.
 */
import type { Segment } from './bleu.js';
import { countNgrams } from './ngrams.js';

const ORDERS = 4;
const SIGMA = 6;

interface Vector {
  /** one map of tf-idf weights for each order 1..4 */
  readonly weights: readonly ReadonlyMap<string, number>[];
  readonly norms: readonly number[];
  /** pycocoevalcap's length: the number of bigrams, one less than that of the words */
  readonly length: number;
}

/** How many documents hold each n-gram, and how many documents there are. */
export interface DocumentFrequencies {
  readonly counts: ReadonlyMap<string, number>;
  readonly documents: number;
}

export function documentFrequencies(
  referenceSets: readonly (readonly (readonly string[])[])[],
): DocumentFrequencies {
  const counts = new Map<string, number>();
  for (const references of referenceSets) {
    const seen = new Set<string>();
    for (const words of references) {
      for (let n = 1; n <= ORDERS; n++) for (const ngram of countNgrams(words, n).keys()) seen.add(ngram);
    }
    for (const ngram of seen) counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return { counts, documents: referenceSets.length };
}

/** Scores captions against reference sets; keeps the vectors of the references, so that many captions can be tried. */
export class CiderScorer {
  readonly #frequencies: DocumentFrequencies;
  readonly #references: readonly (readonly Vector[])[];

  /** @param frequencies by default those of the given references themselves, as the published tables do. */
  constructor(
    referenceSets: readonly (readonly (readonly string[])[])[],
    frequencies: DocumentFrequencies = documentFrequencies(referenceSets),
  ) {
    this.#frequencies = frequencies;
    this.#references = referenceSets.map((set) => set.map((words) => this.#vector(words)));
  }

  /** 0..10 for the caption of reference set `index`. */
  score(candidate: readonly string[], index: number): number {
    const references = this.#references[index] ?? [];
    const vector = this.#vector(candidate);
    const total = references.reduce((sum, reference) => sum + similarity(vector, reference), 0);
    return references.length === 0 ? 0 : (10 * total) / references.length;
  }

  #vector(words: readonly string[]): Vector {
    const logDocuments = Math.log(this.#frequencies.documents);
    const weights: Map<string, number>[] = [];
    const norms: number[] = [];
    for (let n = 1; n <= ORDERS; n++) {
      const map = new Map<string, number>();
      let squares = 0;
      for (const [ngram, count] of countNgrams(words, n)) {
        const documents = Math.max(1, this.#frequencies.counts.get(ngram) ?? 0);
        const weight = count * (logDocuments - Math.log(documents));
        map.set(ngram, weight);
        squares += weight ** 2;
      }
      weights.push(map);
      norms.push(Math.sqrt(squares));
    }
    return { weights, norms, length: Math.max(0, words.length - 1) };
  }
}

/** Mean over n of the clipped cosine, times a Gaussian penalty on the difference in length. */
function similarity(candidate: Vector, reference: Vector): number {
  let total = 0;
  for (let n = 0; n < ORDERS; n++) {
    let dot = 0;
    for (const [ngram, weight] of candidate.weights[n] ?? []) {
      const other = reference.weights[n]?.get(ngram) ?? 0;
      dot += Math.min(weight, other) * other;
    }
    const norms = (candidate.norms[n] ?? 0) * (reference.norms[n] ?? 0);
    total += norms === 0 ? dot : dot / norms;
  }
  const difference = candidate.length - reference.length;
  return (total / ORDERS) * Math.exp(-(difference ** 2) / (2 * SIGMA ** 2));
}

/** Mean CIDEr-D, 0..10; document frequencies come from the segments' own references unless given. */
export function ciderD(segments: readonly Segment[], frequencies?: DocumentFrequencies): number {
  if (segments.length === 0) return 0;
  const scorer = new CiderScorer(
    segments.map((segment) => segment.references),
    frequencies,
  );
  return segments.reduce((sum, { candidate }, i) => sum + scorer.score(candidate, i), 0) / segments.length;
}
