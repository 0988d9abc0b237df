/**
 * Words of a written statement with their probability and attention. Words that the caption graph wrote keep its own;
 * the others have those of the fact that chose them.
 */
import type { Box } from '../base/images.js';
import { type Clause, readClauses } from '../language/read-clauses.js';
import type { Role, Word } from '../language/thing.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Likely } from '../model/naming.js';
import { toSentence } from '../model/tokenizer.js';

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

/** A clause as the caption graph wrote it. */
export interface DecodedClause extends Pick<Clause, 'statement'> {
  readonly words: readonly ScoredWord[];
}

/**
 * @param crops that the run saw
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function decodedClauses(
  { ids, logProbabilities, length, attention }: CaptionOutput,
  crops: readonly Box[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): DecodedClause[] {
  const { words } = toSentence(ids, logProbabilities, length, manifest);
  return readClauses(words.map(({ text }) => text)).map(({ statement, words: positions, roles }) => ({
    statement,
    words: positions.map((at, i) => ({
      ...{ ...(words[at] as (typeof words)[0]), ...(roles[i] as (typeof roles)[0]) },
      attention: { weights: attention[at] as Float32Array, crops },
    })),
  }));
}

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
