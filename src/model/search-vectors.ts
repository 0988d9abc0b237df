/** Runs of the graphs `pair` and `text`: unit vectors that are near if the text is true of the pair. */
import { cropTensors, row, stack } from './batches.js';
import { FINE_STRIDE } from './bundle.js';
import { FULL_FRAME_KIND, floatOutput } from './contract.js';
import type { PairEvidence } from './graph-io.js';
import type { BundleManifest } from './manifest.js';
import { memoryRows } from './memory-layout.js';
import type { SearchManifest } from './search-manifest.js';
import type { Graph } from './session.js';

/** @returns the vector of each pair, as a view of the batch's tensor; see `Captioner` for B and the channels */
export async function runPairGraph(
  graph: Graph,
  manifest: BundleManifest,
  channels: { readonly coarse: number; readonly fine: number },
  batch: readonly PairEvidence[],
  B: number,
): Promise<Float32Array[]> {
  const { attention, input, kinds, search, glance: cropRule } = manifest;
  const map = [input.height / FINE_STRIDE, input.width / FINE_STRIDE];
  const stacked = (of: (pair: PairEvidence) => Float32Array, shape: readonly number[]) =>
    stack(batch.map(of), shape, B);
  const outputs = await graph.run({
    memory: stacked(({ memory }) => memory, [memoryRows(attention), -1]),
    ...(cropRule === null ? {} : cropTensors(batch, cropRule, channels, B)),
    [FULL_FRAME_KIND]: stacked(({ kindLogits }) => kindLogits, [kinds.length]),
    map_before: stacked(({ before }) => before.data, map),
    map_after: stacked(({ after }) => after.data, map),
  });
  const vectors = floatOutput(graph, outputs, 'vector', [B, (search as SearchManifest).dimensions]);
  return batch.map((_, i) => row(vectors, i, B));
}

/** @returns the vector of each text, as a view of the batch's tensor; rows after the last text are pads */
export async function runTextGraph(
  graph: Graph,
  manifest: SearchManifest,
  batch: readonly string[],
  B: number,
): Promise<Float32Array[]> {
  const { max_words: L, grams_per_word: M, special, dimensions } = manifest;
  const encode = createTextEncoder(manifest);
  const ids = new BigInt64Array(B * L).fill(BigInt(special.pad));
  const grams = new BigInt64Array(B * L * M);
  for (const [i, text] of batch.entries()) {
    const encoded = encode(text);
    ids.set(encoded.ids, i * L);
    grams.set(encoded.grams, i * L * M);
  }
  const outputs = await graph.run({ ids: { dims: [B, L], data: ids }, grams: { dims: [B, L, M], data: grams } });
  const vectors = floatOutput(graph, outputs, 'vector', [B, dimensions]);
  return batch.map((_, i) => row(vectors, i, B));
}

/** Characters of a word that count. */
const LONGEST_WORD = 32;
const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

interface EncodedText {
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
