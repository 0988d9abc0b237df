/**
 * Encoder of texts for the graph `text`: word ids, and hashed character n-grams of every word, so that a misspelled
 * word lies near the right one. Equal to training/text/search_words.py, as the manifest's examples test.
 */
import type { SearchManifest } from './search-manifest.js';

/** Characters of a word that count. */
const LONGEST_WORD = 32;
const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

export interface EncodedText {
  /** [max_words] */
  readonly ids: BigInt64Array;
  /** [max_words, grams_per_word] rows of n-grams, shorter ones first, filled with 0 */
  readonly grams: BigInt64Array;
}

/** @returns the encoder of one manifest, for texts of any length: words after the last position are ignored */
export function createTextEncoder(manifest: SearchManifest): (text: string) => EncodedText {
  const { max_words: L, grams_per_word: M, special } = manifest;
  const idOf = new Map(manifest.vocabulary.map((word, i) => [word, BigInt(i)]));
  return (text) => {
    const ids = new BigInt64Array(L).fill(BigInt(special.pad));
    const grams = new BigInt64Array(L * M);
    const words = wordsOf(text).slice(0, L - 1);
    for (const [i, word] of words.entries()) {
      ids[i] = idOf.get(word) ?? BigInt(special.unk);
      grams.set(gramsOf(word, manifest), i * M);
    }
    ids[words.length] = BigInt(special.end);
    return { ids, grams };
  };
}

/** Runs of letters and digits, in lower case. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

function gramsOf(word: string, { gram_sizes, grams_per_word, buckets }: SearchManifest): bigint[] {
  const characters = ['<', ...[...word].slice(0, LONGEST_WORD), '>'];
  const grams = gram_sizes.flatMap((size) =>
    Array.from({ length: Math.max(0, characters.length - size + 1) }, (_, i) => characters.slice(i, i + size).join('')),
  );
  return grams.slice(0, grams_per_word).map((gram) => BigInt(rowOf(gram, buckets)));
}

/** @returns 32-bit FNV-1a of the UTF-8 bytes, as a row from 1 to buckets - 1 */
function rowOf(gram: string, buckets: number): number {
  let value = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(gram)) value = Math.imul(value ^ byte, FNV_PRIME);
  return 1 + ((value >>> 0) % (buckets - 1));
}
