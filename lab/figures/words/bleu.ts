/** Corpus BLEU (Papineni et al., ACL 2002) with the closest reference length, as pycocoevalcap computes it. */

const ORDERS = 4;
// Constants of pycocoevalcap: a corpus without a matching n-gram scores almost 0 instead of NaN.
const SMALL = 1e-9;
const TINY = 1e-15;

export interface Segment {
  /** words of the scored caption */
  readonly candidate: readonly string[];
  /** words of each reference; at least one reference */
  readonly references: readonly (readonly string[])[];
}

/** BLEU-1 to BLEU-4, each 0..1, unsmoothed. */
export function bleu(segments: readonly Segment[]): [number, number, number, number] {
  const matched = new Float64Array(ORDERS);
  const guessed = new Float64Array(ORDERS);
  let candidateLength = 0;
  let referenceLength = 0;
  for (const { candidate, references } of segments) {
    candidateLength += candidate.length;
    referenceLength += closestLength(
      candidate.length,
      references.map((words) => words.length),
    );
    for (let n = 1; n <= ORDERS; n++) {
      guessed[n - 1] = (guessed[n - 1] ?? 0) + Math.max(0, candidate.length - n + 1);
      matched[n - 1] = (matched[n - 1] ?? 0) + clippedMatches(candidate, references, n);
    }
  }
  const ratio = (candidateLength + TINY) / (referenceLength + SMALL);
  const brevity = ratio < 1 ? Math.exp(1 - 1 / ratio) : 1;
  let product = 1;
  const scores = Array.from({ length: ORDERS }, (_, i) => {
    product *= ((matched[i] ?? 0) + TINY) / ((guessed[i] ?? 0) + SMALL);
    return product ** (1 / (i + 1)) * brevity;
  });
  return scores as [number, number, number, number];
}

/** The shorter of two equally close lengths counts. */
const closestLength = (length: number, others: readonly number[]): number =>
  others.reduce((best, other) => {
    const difference = Math.abs(other - length) - Math.abs(best - length);
    return difference < 0 || (difference === 0 && other < best) ? other : best;
  });

function clippedMatches(candidate: readonly string[], references: Segment['references'], n: number): number {
  const allowed = new Map<string, number>();
  for (const reference of references) {
    for (const [ngram, count] of countNgrams(reference, n)) {
      allowed.set(ngram, Math.max(allowed.get(ngram) ?? 0, count));
    }
  }
  let total = 0;
  for (const [ngram, count] of countNgrams(candidate, n)) total += Math.min(count, allowed.get(ngram) ?? 0);
  return total;
}

/** Counts each sequence of `n` words. The key is the words joined by single spaces; words contain no space. */
export function countNgrams(words: readonly string[], n: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + n <= words.length; start++) {
    const key = words.slice(start, start + n).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
