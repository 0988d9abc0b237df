/** Captions as rows: outputs of a caption graph, and the graph that writes many rows about one pair. */
import { row, separateCropTensors, stack } from './batches.js';
import { COARSE_STRIDE } from './bundle.js';
import { FULL_FRAME_KIND, floatOutput, has, integerOutput, MOST_CLAUSES } from './contract.js';
import type { CaptionOutput, StatementsInput } from './graph-io.js';
import type { BundleManifest } from './manifest.js';
import { memoryRows } from './memory-layout.js';
import type { Graph, Tensor } from './session.js';

/**
 * @param count number of rows to return. @param B rows of the run
 * @returns views of the outputs. @throws BundleError if an output has another shape than the manifest states
 */
export function captionsOf(
  graph: Graph,
  outputs: Readonly<Record<string, Tensor>>,
  { attention, glance: cropRule, kinds, max_length: T }: BundleManifest,
  count: number,
  B: number,
): CaptionOutput[] {
  const cropCells = cropRule === null ? 0 : cropRule.regions * (cropRule.size / COARSE_STRIDE) ** 2;
  const ids = integerOutput(graph, outputs, 'ids', [B, T]);
  const logProbabilities = floatOutput(graph, outputs, 'log_prob', [B, T]);
  const lengths = integerOutput(graph, outputs, 'length', [B]);
  const weights = floatOutput(graph, outputs, 'attention', [B, T, memoryRows(attention) + cropCells]);
  const kind = has(graph.inputs, FULL_FRAME_KIND)
    ? floatOutput(graph, outputs, 'kind_logits', [B, kinds.length])
    : null;
  return Array.from({ length: count }, (_, i) => {
    const length = Number(lengths[i]);
    const itemWeights = row(weights, i, B); // [T, N + R * g * g]
    return {
      ids: row(ids, i, B),
      logProbabilities: row(logProbabilities, i, B),
      length,
      attention: Array.from({ length }, (_, t) => row(itemWeights, t, T)),
      kindLogits: kind === null ? null : row(kind, i, B),
    };
  });
}

/**
 * Crops and pairs of crops are encoded once; a row of the graph is a direction of time and the indices of its crops.
 * The graph needs as many rows of one direction, first, as of the other.
 * @returns one output per set, then one per set with the frames exchanged
 */
export async function runStatementsGraph(
  graph: Graph,
  manifest: BundleManifest,
  channels: { readonly coarse: number; readonly fine: number },
  { given, exchanged, crops, sets, clauses }: StatementsInput,
): Promise<CaptionOutput[]> {
  const { attention, glance: cropRule, kinds, max_length: T } = manifest;
  if (cropRule === null) throw new RangeError('the bundle has no region crops');
  const half = sets.length;
  const B = 2 * half;
  const width = 1 + cropRule.regions;
  const rows = new BigInt64Array(B * width).fill(-1n);
  const most = new BigInt64Array(B);
  for (let i = 0; i < B; i++) {
    rows[i * width] = i < half ? 0n : 1n;
    for (const [slot, crop] of (sets[i % half] ?? []).entries()) rows[i * width + 1 + slot] = BigInt(crop);
    most[i] = BigInt(clauses?.[i % half] ?? T);
  }
  const outputs = await graph.run({
    memory: stack([given.memory, exchanged.memory], [memoryRows(attention), -1], 2),
    ...separateCropTensors(crops, cropRule, channels, crops.length),
    [FULL_FRAME_KIND]: stack([given.kindLogits, exchanged.kindLogits], [kinds.length], 2),
    rows: { dims: [B, width], data: rows },
    ...(has(graph.inputs, MOST_CLAUSES) ? { [MOST_CLAUSES]: { dims: [B], data: most } } : {}),
  });
  return captionsOf(graph, outputs, manifest, B, B);
}
