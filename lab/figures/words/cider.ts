/**
 * CIDEr-D (Vedantam et al., CVPR 2015) as pycocoevalcap computes it, from 0 to 10: a caption equal to its only
 * reference scores 10. Tables of papers show the score times 100. A document of the inverse document frequencies is
 * the set of references of one pair.
 */
import { countNgrams, type Segment } from './bleu.js';

const ORDERS = 4;
const SIGMA = 6;

interface Vector {
  /** tf-idf weights per n-gram, one map per order 1..4 */
  readonly weights: readonly ReadonlyMap<string, number>[];
  readonly norms: readonly number[];
  /** as in pycocoevalcap the number of bigrams, which is one less than the number of words */
  readonly length: number;
}

/** The number of documents that contain each n-gram, and the number of documents. */
export interface DocumentFrequencies {
  readonly counts: ReadonlyMap<string, number>;
  readonly documents: number;
}

export function documentFrequencies(referenceSets: readonly (readonly (readonly string[])[])[]): DocumentFrequencies {
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

/** Scores captions against reference sets; caches the vectors of the references for many captions. */
export class CiderScorer {
  readonly #frequencies: DocumentFrequencies;
  readonly #references: readonly (readonly Vector[])[];

  /** @param frequencies default: those of the given references, as in published tables */
  constructor(
    referenceSets: readonly (readonly (readonly string[])[])[],
    frequencies: DocumentFrequencies = documentFrequencies(referenceSets),
  ) {
    this.#frequencies = frequencies;
    this.#references = referenceSets.map((set) => set.map((words) => this.#vector(words)));
  }

  /** @returns 0..10 for a caption of reference set `index` */
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

/** Mean over the orders of the clipped cosine, times a Gaussian penalty on the difference in length. */
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

/** Mean CIDEr-D, 0..10. @param frequencies default: those of the segments' own references */
export function ciderD(segments: readonly Segment[], frequencies?: DocumentFrequencies): number {
  if (segments.length === 0) return 0;
  const scorer = new CiderScorer(
    segments.map((segment) => segment.references),
    frequencies,
  );
  return segments.reduce((sum, { candidate }, i) => sum + scorer.score(candidate, i), 0) / segments.length;
}
