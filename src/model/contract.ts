/**
 * Contract of a bundle's graphs: names and types of their tensors, and checks of their shapes. Tensor names are
 * part of the bundle format; `glance` in them means a region crop, `look` the full frame.
 */
import { BundleError } from './bundle.js';
import type { GraphSpec, TensorSpec } from './graphs-schema.js';
import type { BundleManifest } from './manifest.js';
import type { Graph, Tensor } from './session.js';

type GraphName = keyof BundleManifest['graphs'];

/** Input of a caption graph whose region crops judge the kind: the kind logits of the full frame. */
export const FULL_FRAME_KIND = 'look_kind_logits';
/** Output of the same graph: the joint kind logits of the full frame and its region crops. */
const JOINT_KIND = 'kind_logits';
/** Outputs of a difference graph that also describes the pair with its frames exchanged. */
export const EXCHANGED = { memory: 'exchanged_memory', kindLogits: 'exchanged_kind_logits' } as const;
const CROP_INPUTS = ['glance_coarse', 'glance_fine', 'glance_box', 'object_box', 'glance_mask'];

const TENSORS: Record<GraphName, { inputs: readonly string[]; outputs: readonly string[] }> = {
  features: { inputs: ['image'], outputs: ['coarse', 'fine'] },
  difference: {
    inputs: ['coarse_before', 'fine_before', 'coarse_after', 'fine_after'],
    outputs: ['memory', 'change_logit', 'kind_logits', 'nuisance_logits', 'map_before', 'map_after'],
  },
  caption: { inputs: ['memory', ...CROP_INPUTS], outputs: ['ids', 'log_prob', 'length', 'attention'] },
  statements: {
    inputs: ['memory', ...CROP_INPUTS.slice(0, 4), FULL_FRAME_KIND, 'rows', 'clauses'],
    outputs: ['ids', 'log_prob', 'length', 'attention', JOINT_KIND],
  },
  names: {
    inputs: ['glance_coarse', 'glance_fine', 'glance_box', 'object_box'],
    outputs: ['noun_logits', 'colour_logits'],
  },
  people: { inputs: ['image'], outputs: ['scores', 'boxes'] },
  check: {
    inputs: ['memory', ...CROP_INPUTS, FULL_FRAME_KIND, 'map_before', 'map_after', 'ids'],
    outputs: ['score', 'slots'],
  },
  pair: { inputs: ['memory', ...CROP_INPUTS, FULL_FRAME_KIND, 'map_before', 'map_after'], outputs: ['vector'] },
  text: { inputs: ['ids', 'grams'], outputs: ['vector'] },
};
const INTEGERS = new Set(['ids', 'length', 'grams', 'rows', 'clauses']);
/** Number of axes of an input, by which a graph for several pairs differs from an earlier one for a single pair. */
const AXES: Readonly<Partial<Record<GraphName, readonly [input: string, count: number]>>> = {
  statements: ['rows', 3],
  check: ['ids', 3],
};

/**
 * @throws BundleError if an opened graph lacks a tensor of the contract, has one too many, or differs from the manifest
 */
export function checkGraph(name: GraphName, graph: Graph, manifest: BundleManifest): void {
  const { inputs, outputs } = TENSORS[name];
  const hasCrops = manifest.glance !== null;
  const cropsJudgeKind =
    name === 'caption' && hasCrops && (has(graph.inputs, FULL_FRAME_KIND) || has(graph.outputs, JOINT_KIND));
  const namedInputs = hasCrops ? inputs : inputs.filter((input) => !CROP_INPUTS.includes(input));
  const optional = cropsJudgeKind ? [FULL_FRAME_KIND] : [];
  const exchanges = name === 'difference' && has(graph.outputs, EXCHANGED.memory);
  const more = cropsJudgeKind ? [JOINT_KIND] : exchanges ? Object.values(EXCHANGED) : [];
  checkNames(graph.file, 'inputs', graph.inputs, [...namedInputs, ...optional]);
  checkNames(graph.file, 'outputs', graph.outputs, [...outputs, ...more]);
  checkAxes(name, graph);
  const stated = statedGraph(manifest, name);
  checkAgainstManifest(graph.file, 'input', graph.inputs, stated.inputs);
  checkAgainstManifest(graph.file, 'output', graph.outputs, stated.outputs);
}

/** @throws RangeError if the manifest states no such graph */
export function statedGraph({ graphs }: BundleManifest, name: GraphName): GraphSpec {
  const stated = graphs[name];
  if (stated === undefined) throw new RangeError(`the manifest has no graph ${name}`);
  return stated;
}

export const has = (tensors: readonly TensorSpec[], name: string): boolean =>
  tensors.some((tensor) => tensor.name === name);

function checkNames(
  file: string,
  role: 'inputs' | 'outputs',
  found: readonly TensorSpec[],
  expected: readonly string[],
): void {
  const names = found.map((tensor) => tensor.name);
  if ([...names].sort().join() !== [...expected].sort().join()) {
    throw new BundleError(file, `has the ${role} ${names.join(', ')}; expected ${expected.join(', ')}`);
  }
  for (const { name, dtype } of found) {
    const expectedType = INTEGERS.has(name) ? 'int64' : 'float32';
    if (dtype !== expectedType) throw new BundleError(file, `${name} is ${dtype}, expected ${expectedType}`);
  }
}

/** @throws BundleError if the graph takes one pair alone, as those of earlier versions did */
function checkAxes(name: GraphName, { file, inputs }: Graph): void {
  const [input, count] = AXES[name] ?? [];
  const shape = inputs.find((spec) => spec.name === input)?.shape;
  if (shape === undefined || shape.length === 0 || shape.length === count) return; // a cached graph states no shapes
  const command = `python -m training.bundle ${name} --bundle FOLDER`;
  throw new BundleError(
    file,
    `${input} has ${shape.length} axes, expected ${count}: write the graph anew by ${command}`,
  );
}

function checkAgainstManifest(
  file: string,
  role: 'input' | 'output',
  found: readonly TensorSpec[],
  stated: readonly TensorSpec[],
): void {
  if (stated.length !== found.length) {
    throw new BundleError(file, `has ${found.length} ${role}s, the manifest says ${stated.length}`);
  }
  for (const expected of stated) {
    const { name } = expected;
    const actual = found.find((tensor) => tensor.name === name);
    if (actual === undefined) throw new BundleError(file, `has no ${role} ${name}, which the manifest states`);
    if (actual.dtype !== expected.dtype || !shapesAgree(actual.shape, expected.shape)) {
      const show = ({ dtype, shape }: TensorSpec) => `${dtype} [${shape.join(',')}]`;
      throw new BundleError(file, `${role} ${name} is ${show(actual)}, the manifest says ${show(expected)}`);
    }
  }
}

/** @param actual is empty if the graph's file leaves the shape open; a size that is no number fits every size */
function shapesAgree(actual: TensorSpec['shape'], expected: TensorSpec['shape']): boolean {
  if (actual.length === 0) return true;
  return (
    actual.length === expected.length &&
    actual.every((size, i) => {
      const other = expected[i];
      return typeof size !== 'number' || typeof other !== 'number' || size === other;
    })
  );
}

/**
 * @returns the size of one axis of an output, of the graph or else of the manifest.
 * @throws BundleError if both leave it open
 */
export function statedSize(
  name: GraphName,
  graph: Graph,
  manifest: BundleManifest,
  output: string,
  axis: number,
): number {
  for (const specs of [graph.outputs, statedGraph(manifest, name).outputs]) {
    const size = specs.find((spec) => spec.name === output)?.shape[axis];
    if (typeof size === 'number') return size;
  }
  throw new BundleError(graph.file, `neither it nor the manifest states the size of ${output}'s axis ${axis}`);
}

/**
 * @param shape of the output as the manifest states it; -1 = any size
 * @returns the values of an output
 * @throws BundleError that names the file, the output and both shapes if they differ
 */
export function floatOutput(
  graph: Graph,
  outputs: Readonly<Record<string, Tensor>>,
  name: string,
  shape: readonly number[],
): Float32Array {
  return checkShape(graph, outputs, name, shape).data as Float32Array;
}

/** Same as floatOutput, for int64. */
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
