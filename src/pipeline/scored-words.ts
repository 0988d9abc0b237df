/**
 * Words of a written statement with their probability and attention. Words that the caption graph wrote keep its own;
 * the others have those of the fact that chose them.
 */
import type { Box } from '../base/images.js';
import type { ReadRole } from '../language/read-clauses.js';
import type { Role, Word } from '../language/thing.js';
import type { Likely } from '../model/naming.js';
import type { Sentence } from '../model/tokenizer.js';

/** The attention of a word, and the boxes of the crops that the run of its clause saw. */
export interface WordAttention {
  readonly weights: Float32Array;
  readonly crops: readonly Box[];
  /** of the other locations that the word is about */
  readonly others?: readonly WordAttention[];
}

export interface ScoredWord extends Word {
  /** 0..1 */
  readonly score: number;
  /** null: the caption graph did not write the word */
  readonly attention: WordAttention | null;
}

/**
 * The words of a clause as the caption graph wrote them.
 * @param sentence of the clause alone. @param roles one per word
 * @param rows of the attention, one per word
 */
export const decodedWords = (
  sentence: Sentence,
  roles: readonly ReadRole[],
  rows: readonly Float32Array[],
  crops: readonly Box[],
): ScoredWord[] =>
  sentence.words.map(({ text, score }, i) => ({
    ...{ text, score, ...(roles[i] as ReadRole) },
    attention: { weights: rows[i] as Float32Array, crops },
  }));

/** Words that no decoder wrote: all have the score of the decision that they state. */
export const uniformWords = (
  words: readonly Word[],
  score: number,
  attention: WordAttention | null = null,
): ScoredWord[] => words.map((word) => ({ ...word, score, attention }));

/** The phrase of a role with the probability of all of its words; null: the statement has none. */
export const statedPhrase = (words: readonly ScoredWord[], role: Role, value: string | null): Likely | null =>
  value === null
    ? null
    : { value, probability: words.reduce((product, word) => (word.role === role ? product * word.score : product), 1) };

/** The mean attention of words of equal crops. @param rows one per word, at least one */
export function meanAttention(rows: readonly Float32Array[], crops: readonly Box[]): WordAttention {
  const first = rows[0] as Float32Array;
  const weights = Float32Array.from(
    first,
    (_, i) => rows.reduce((sum, row) => sum + (row[i] as number), 0) / rows.length,
  );
  return { weights, crops };
}
