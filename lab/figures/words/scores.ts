/** The word metrics of one set of captions. */
import { bleu, type Segment } from './bleu.js';
import { ciderD, type DocumentFrequencies } from './cider.js';
import { rougeL } from './rouge.js';
import { tokenize } from './tokenize.js';

export interface WordScores {
  readonly captions: number;
  /** BLEU-1 to BLEU-4, 0..1 */
  readonly bleu: readonly [number, number, number, number];
  readonly rougeL: number;
  /** 0..10; document frequencies from the references of this set, as in published tables of subsets */
  readonly ciderD: number;
  /** 0..10; document frequencies from the references of the whole evaluated set */
  readonly ciderDOfAll: number;
}

export const toSegment = (caption: string, references: readonly string[]): Segment => ({
  candidate: tokenize(caption),
  references: references.map(tokenize),
});

/** @param wholeSet document frequencies of the whole evaluated set. @returns null for an empty set */
export function wordScores(segments: readonly Segment[], allReferences: DocumentFrequencies): WordScores | null {
  if (segments.length === 0) return null;
  return {
    captions: segments.length,
    bleu: bleu(segments),
    rougeL: rougeL(segments),
    ciderD: ciderD(segments),
    ciderDOfAll: ciderD(segments, allReferences),
  };
}
