/** What the three graphs of a bundle must take and give: their tensors' names and types, and checks of shapes. */
import { BundleError } from './bundle.js';
import type { GraphSpec, Manifest, TensorSpec } from './manifest.js';
import type { Graph, Tensor } from './session.js';

export type GraphName = keyof Manifest['graphs'];

/** The whole look's opinion on the kind, for a caption graph whose glances have one too; its `kind_logits` are what both believe together. */
export const LOOK_KIND = 'look_kind_logits';
const GLANCE_INPUTS = ['glance_coarse', 'glance_fine', 'glance_box', 'object_box', 'glance_mask'];

const TENSORS: Record<GraphName, { inputs: readonly string[]; outputs: readonly string[] }> = {
  features: { inputs: ['image'], outputs: ['coarse', 'fine'] },
  difference: {
    inputs: ['coarse_before', 'fine_before', 'coarse_after', 'fine_after'],
    outputs: ['memory', 'change_logit', 'kind_logits', 'nuisance_logits', 'map_before', 'map_after'],
  },
  caption: { inputs: ['memory', ...GLANCE_INPUTS], outputs: ['ids', 'log_prob', 'length', 'attention'] },
};
const INTEGERS = new Set(['ids', 'length']);

/** @throws BundleError where an opened graph lacks a tensor of the contract, has one too many, or is not what the manifest says. */
export function checkGraph(name: GraphName, graph: Graph, manifest: Manifest): void {
  const expected = TENSORS[name];
  const seesKind =
    name === 'caption' &&
    (has(graph.inputs, LOOK_KIND) || has(graph.outputs, 'kind_logits')) &&
    manifest.glance !== null;
  const inputs =
    manifest.glance === null ? expected.inputs.filter((n) => !GLANCE_INPUTS.includes(n)) : expected.inputs;
  checkNames(graph.file, 'inputs', graph.inputs, seesKind ? [...inputs, LOOK_KIND] : inputs);
  checkNames(
    graph.file,
    'outputs',
    graph.outputs,
    seesKind ? [...expected.outputs, 'kind_logits'] : expected.outputs,
  );
  const stated: GraphSpec = manifest.graphs[name];
  checkAgainstManifest(graph.file, 'input', graph.inputs, stated.inputs);
  checkAgainstManifest(graph.file, 'output', graph.outputs, stated.outputs);
}

export const has = (tensors: readonly TensorSpec[], name: string): boolean =>
  tensors.some((tensor) => tensor.name === name);

function checkNames(
  file: string,
  what: string,
  found: readonly TensorSpec[],
  expected: readonly string[],
): void {
  const names = found.map((tensor) => tensor.name);
  if ([...names].sort().join() !== [...expected].sort().join()) {
    throw new BundleError(file, `has the ${what} ${names.join(', ')}; expected ${expected.join(', ')}`);
  }
  for (const { name, dtype } of found) {
    const right = INTEGERS.has(name) ? 'int64' : 'float32';
    if (dtype !== right) throw new BundleError(file, `${name} is ${dtype}, expected ${right}`);
  }
}

function checkAgainstManifest(
  file: string,
  what: string,
  found: readonly TensorSpec[],
  stated: readonly TensorSpec[],
): void {
  if (stated.length !== found.length) {
    throw new BundleError(file, `has ${found.length} ${what}s, the manifest says ${stated.length}`);
  }
  for (const says of stated) {
    const is = found.find((tensor) => tensor.name === says.name);
    if (is === undefined)
      throw new BundleError(file, `has no ${what} ${says.name}, which the manifest states`);
    const same =
      is.dtype === says.dtype &&
      // ONNX Runtime gives an empty shape where the file leaves it open
      (is.shape.length === 0 ||
        (is.shape.length === says.shape.length && is.shape.every((size, i) => agrees(size, says.shape[i]))));
    if (!same) {
      throw new BundleError(
        file,
        `${what} ${says.name} is ${is.dtype} [${is.shape.join(',')}], the manifest says ${says.dtype} [${says.shape.join(',')}]`,
      );
    }
  }
}

/** The size of one axis of an output, from the graph or else from the manifest. @throws BundleError where both leave it open. */
export function statedSize(
  name: GraphName,
  graph: Graph,
  manifest: Manifest,
  output: string,
  axis: number,
): number {
  for (const specs of [graph.outputs, manifest.graphs[name].outputs]) {
    const size = specs.find((spec) => spec.name === output)?.shape[axis];
    if (typeof size === 'number') return size;
  }
  throw new BundleError(
    graph.file,
    `neither it nor the manifest states the size of ${output}'s axis ${axis}`,
  );
}

const agrees = (a: number | string, b: number | string | undefined): boolean =>
  typeof a !== 'number' || typeof b !== 'number' || a === b;

/**
 * An output's values, once its shape is what the manifest promises.
 * @param shape -1 where any size will do
 * @throws BundleError naming the file, the output and both shapes
 */
export function floatOutput(
  graph: Graph,
  outputs: Readonly<Record<string, Tensor>>,
  name: string,
  shape: readonly number[],
): Float32Array {
  return checkShape(graph, outputs, name, shape).data as Float32Array;
}

/** As floatOutput, for int64. */
export function integerOutput(
  graph: Graph,
  outputs: Readonly<Record<string, Tensor>>,
  name: string,
  shape: readonly number[],
): BigInt64Array {
  return checkShape(graph, outputs, name, shape).data as BigInt64Array;
}

function checkShape(
  graph: Graph,
  outputs: Readonly<Record<string, Tensor>>,
  name: string,
  shape: readonly number[],
): Tensor {
  const tensor = outputs[name];
  const dims = tensor?.dims ?? [];
  const fits = dims.length === shape.length && shape.every((size, i) => size === -1 || size === dims[i]);
  if (tensor === undefined || !fits) {
    const expected = shape.map((size) => (size === -1 ? 'any' : size)).join(',');
    throw new BundleError(graph.file, `output ${name} came as [${dims.join(',')}], expected [${expected}]`);
  }
  return tensor;
}
