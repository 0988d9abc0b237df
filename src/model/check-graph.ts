/** Runs of the truth check, K sentences about each of P pairs. */
import { cropTensors, row, stack } from './batches.js';
import { SLOTS } from './bundle.js';
import { encodeSentences } from './check-words.js';
import { FULL_FRAME_KIND, floatOutput } from './contract.js';
import type { CheckInput, CheckOutput } from './graph-io.js';
import type { BundleManifest } from './manifest.js';
import { memoryRows } from './memory-layout.js';
import type { Graph } from './session.js';

/**
 * @param pairs P, at least as many as the inputs
 * @param padTo size to pad the sentences of a pair to, whose words are then padded to the longest sentence that the
 *   graph takes; null: nothing is padded further than the longest
 * @returns per input, how well each of its sentences fits it
 */
export async function runCheckGraph(
  graph: Graph,
  { attention, check, glance: cropRule, kinds }: BundleManifest,
  channels: { readonly coarse: number; readonly fine: number },
  inputs: readonly CheckInput[],
  pairs: number,
  padTo: ((count: number) => number) | null,
): Promise<CheckOutput[][]> {
  if (check === undefined || cropRule === null) throw new RangeError('the bundle has no truth check');
  const all = inputs.map(({ sentences }) => sentences);
  const longest = Math.max(...all.map(({ length }) => length));
  const K = padTo?.(longest) ?? longest;
  const { width, height } = (inputs[0] as CheckInput).before;
  const stacked = (of: (input: CheckInput) => Float32Array, ...shape: number[]) => stack(inputs.map(of), shape, pairs);
  const outputs = await graph.run({
    memory: stacked(({ memory }) => memory, memoryRows(attention), -1),
    ...cropTensors(inputs, cropRule, channels, pairs),
    [FULL_FRAME_KIND]: stacked(({ kindLogits }) => kindLogits, kinds.length),
    map_before: stacked(({ before }) => before.data, height, width),
    map_after: stacked(({ after }) => after.data, height, width),
    ids: encodeSentences(all, check, pairs, K, padTo !== null),
  });
  const scores = floatOutput(graph, outputs, 'score', [pairs, K]);
  const slots = floatOutput(graph, outputs, 'slots', [pairs, K, SLOTS.length]);
  return all.map((sentences, pair) =>
    sentences.map((_, i) => {
      const at = pair * K + i;
      return { score: scores[at] as number, slots: row(slots, at, pairs * K) };
    }),
  );
}
