/** Runs of the graphs `pair` and `text`: unit vectors that are near if the text is true of the pair. */
import { cropTensors, row, stack } from './batches.js';
import { FINE_STRIDE } from './bundle.js';
import { FULL_FRAME_KIND, floatOutput } from './contract.js';
import type { PairEvidence } from './graph-io.js';
import type { BundleManifest } from './manifest.js';
import { memoryRows } from './memory-layout.js';
import type { SearchManifest } from './search-manifest.js';
import { createTextEncoder } from './search-words.js';
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
