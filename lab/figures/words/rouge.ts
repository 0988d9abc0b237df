/**
 * ROUGE-L (Lin 2004): F-measure of the longest common subsequence with recall weighted by beta, as pycocoevalcap
 * computes it.
 */
import type { Segment } from './bleu.js';

const BETA = 1.2;

/**
 * Mean over the segments, 0..1. Precision and recall are each the best over the references, possibly of different
 * ones.
 */
export function rougeL(segments: readonly Segment[]): number {
  const total = segments.reduce((sum, segment) => sum + segmentRougeL(segment), 0);
  return segments.length === 0 ? 0 : total / segments.length;
}

function segmentRougeL({ candidate, references }: Segment): number {
  let precision = 0;
  let recall = 0;
  for (const reference of references) {
    const common = longestCommonSubsequence(candidate, reference);
    precision = Math.max(precision, common / Math.max(1, candidate.length));
    recall = Math.max(recall, common / Math.max(1, reference.length));
  }
  return precision === 0 || recall === 0
    ? 0
    : ((1 + BETA ** 2) * precision * recall) / (recall + BETA ** 2 * precision);
}

export function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  // row[j] = longest over a[0..i] and b[0..j)
  let row = new Uint16Array(b.length + 1);
  for (const word of a) {
    const next = new Uint16Array(b.length + 1);
    for (let j = 0; j < b.length; j++) {
      next[j + 1] = b[j] === word ? (row[j] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
