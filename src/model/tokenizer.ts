/** Tokenizer: ids of the caption graph to words, each with its score. */
import type { BundleManifest } from './manifest.js';

interface ScoredWord {
  readonly text: string;
  /** probability of this word given the words before it, 0..1 */
  readonly score: number;
}

export interface Sentence {
  readonly text: string;
  readonly words: readonly ScoredWord[];
  /** geometric mean of the words' scores; 0 for a sentence without words */
  readonly score: number;
}

/**
 * @param ids [T] words, then the end id, then pads
 * @param logProbabilities [T] natural logarithms, one per id
 * @param length number of ids that are words
 * @throws RangeError if an id is not a word of the vocabulary
 */
export function toSentence(
  ids: BigInt64Array,
  logProbabilities: Float32Array,
  length: number,
  { vocabulary, special }: Pick<BundleManifest, 'vocabulary' | 'special'>,
): Sentence {
  const words: ScoredWord[] = [];
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const id = Number(ids[i]);
    const text = vocabulary[id];
    if (text === undefined || id === special.pad || id === special.start || id === special.end) {
      throw new RangeError(
        `word ${i + 1} has id ${id}, expected a word among the ${vocabulary.length} of the vocabulary`,
      );
    }
    const logProbability = Math.min(0, logProbabilities[i] as number);
    sum += logProbability;
    words.push({ text, score: Math.exp(logProbability) });
  }
  return sentenceOf(words, sum);
}

/** @param words at least one */
export const toClause = (words: readonly ScoredWord[]): Sentence =>
  sentenceOf(
    words.map(({ text, score }) => ({ text, score })),
    words.reduce((sum, { score }) => sum + Math.log(score), 0),
  );

const sentenceOf = (words: readonly ScoredWord[], sumOfLogs: number): Sentence => ({
  text: words.map((word) => word.text).join(' '),
  words,
  score: words.length === 0 ? 0 : Math.exp(sumOfLogs / words.length),
});

/** A sentence that no decoder wrote: every word has the score of the decision that the sentence states. */
export const uniformScores = (text: string, score: number): Sentence => ({
  text,
  score,
  words: text.split(' ').map((word) => ({ text: word, score })),
});
