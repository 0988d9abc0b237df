/** Words of the truth check: from the text of a sentence to the ids that the graph reads. */
import type { CheckManifest } from './check-schema.js';

export interface ReadSentence {
  /** the words that the check knows, in their order; at most `max_length` - 1 */
  readonly words: readonly string[];
  /** the others, each once */
  readonly unknown: readonly string[];
}
type Words = Pick<CheckManifest, 'vocabulary' | 'special' | 'max_length'>;

/** @param text of any length and language; case and punctuation do not matter */
export function readSentence(text: string, { vocabulary, special, max_length }: Words): ReadSentence {
  const reserved: ReadonlySet<string | undefined> = new Set(Object.values(special).map((id) => vocabulary[id]));
  const known = new Set(vocabulary.filter((word) => !reserved.has(word)));
  const found = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s\p{P}]+/u)
    .filter((word) => word !== '');
  return {
    words: found.filter((word) => known.has(word)).slice(0, max_length - 1),
    unknown: [...new Set(found.filter((word) => !known.has(word)))],
  };
}

/**
 * @param sentences words of each; one that is not in the vocabulary becomes `unk`
 * @returns ids [K,L], row after row: the words, the end id, pads; L is that of the longest, at most `max_length`
 */
export function encodeSentences(
  sentences: readonly (readonly string[])[],
  { vocabulary, special, max_length }: Words,
): { readonly data: BigInt64Array; readonly length: number } {
  const idOf = new Map(vocabulary.map((word, id) => [word, id]));
  const rows = sentences.map((words) => [
    ...words.slice(0, max_length - 1).map((word) => idOf.get(word) ?? special.unk),
    special.end,
  ]);
  const length = Math.max(...rows.map((row) => row.length));
  const data = new BigInt64Array(rows.length * length).fill(BigInt(special.pad));
  for (const [k, row] of rows.entries()) data.set(row.map(BigInt), k * length);
  return { data, length };
}
