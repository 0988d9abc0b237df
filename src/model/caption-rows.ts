/** Captions as rows: outputs of a caption graph, and the graph that writes many rows about each of a few pairs. */
import { cropTensors, row, stack } from './batches.js';
import { COARSE_STRIDE } from './bundle.js';
import { FULL_FRAME_KIND, floatOutput, has, integerOutput } from './contract.js';
import type { CaptionOutput, PairMemory, StatementsInput } from './graph-io.js';
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
 * Crops, and each two of a pair, are encoded once; a row is the indices of its crops. Rows are of one view after the
 * other: of every pair as given, then of every pair with its frames exchanged.
 * @param pairs P, at least as many as the inputs; those after the last input have no crops and no words
 * @param padTo sizes to pad crops and rows of a pair to
 * @returns per input one output per set, then one per set with the frames exchanged
 */
export async function runStatementsGraph(
  graph: Graph,
  manifest: BundleManifest,
  channels: { readonly coarse: number; readonly fine: number },
  inputs: readonly StatementsInput[],
  pairs: number,
  padTo: (count: number) => number,
): Promise<CaptionOutput[][]> {
  const { attention, glance: cropRule, kinds, max_length: T } = manifest;
  if (cropRule === null) throw new RangeError('the bundle has no region crops');
  const C = padTo(Math.max(...inputs.map(({ crops }) => crops.length)));
  const L = padTo(Math.max(...inputs.map(({ sets }) => sets.length)));
  const R = cropRule.regions;
  const B = 2 * pairs * L;
  const slots = new BigInt64Array(B * R).fill(-1n);
  const clauses = new BigInt64Array(B);
  /** The row of a set of a pair in a direction of time. */
  const rowAt = (direction: number, pair: number, set: number) => (direction * pairs + pair) * L + set;
  for (const [pair, input] of inputs.entries()) {
    for (const [set, crops] of input.sets.entries()) {
      for (const at of [rowAt(0, pair, set), rowAt(1, pair, set)]) {
        slots.set(crops.map(BigInt), at * R);
        clauses[at] = BigInt(input.clauses?.[set] ?? T);
      }
    }
  }
  const { glance_mask: _all, ...crops } = cropTensors(inputs, { ...cropRule, regions: C }, channels, pairs);
  const ofViews = (of: (memory: PairMemory) => Float32Array, shape: readonly number[]) => {
    const [given, exchanged] = [inputs.map((one) => of(one.given)), inputs.map((one) => of(one.exchanged))];
    const pads = new Array<Float32Array>(pairs - inputs.length).fill(new Float32Array(given[0]?.length ?? 0));
    return stack([...given, ...pads, ...exchanged, ...pads], shape, 2 * pairs);
  };
  const outputs = await graph.run({
    memory: ofViews(({ memory }) => memory, [memoryRows(attention), -1]),
    ...crops,
    [FULL_FRAME_KIND]: ofViews(({ kindLogits }) => kindLogits, [kinds.length]),
    rows: { dims: [2 * pairs, L, R], data: slots },
    clauses: { dims: [2 * pairs, L], data: clauses },
  });
  const captions = captionsOf(graph, outputs, manifest, B, B);
  return inputs.map(({ sets }, pair) =>
    [0, 1].flatMap((direction) => captions.slice(rowAt(direction, pair, 0), rowAt(direction, pair, sets.length))),
  );
}
