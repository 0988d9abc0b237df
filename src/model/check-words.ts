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
 * @param sentences of each pair, the words of each; one that is not in the vocabulary becomes `unk`
 * @param pairs P, at least as many as have sentences. @param count K, at least as many as a pair has
 * @param fixed whether L is `max_length`; otherwise it is that of the longest sentence
 * @returns ids [P,K,L], row after row: the words, the end id, pads
 */
export function encodeSentences(
  sentences: readonly (readonly (readonly string[])[])[],
  { vocabulary, special, max_length }: Words,
  pairs: number,
  count: number,
  fixed: boolean,
): { readonly dims: [number, number, number]; readonly data: BigInt64Array } {
  const idOf = new Map(vocabulary.map((word, id) => [word, id]));
  const idsOf = (words: readonly string[]) => [
    ...words.slice(0, max_length - 1).map((word) => idOf.get(word) ?? special.unk),
    special.end,
  ];
  const ids = sentences.map((ofPair) => ofPair.map(idsOf));
  const length = fixed ? max_length : Math.max(...ids.flat().map((row) => row.length));
  const data = new BigInt64Array(pairs * count * length).fill(BigInt(special.pad));
  for (const [pair, rows] of ids.entries()) {
    for (const [k, row] of rows.entries()) data.set(row.map(BigInt), (pair * count + k) * length);
  }
  return { dims: [pairs, count, length], data };
}
