/**
 * Sizes that never vary, written into a graph before ONNX Runtime optimises it: on a CPU those of a pair, in a session
 * of a GPU all small ones. It then computes the shapes of the tensors once instead of at every run, and opens the
 * optimised graph in a fraction of the time (docs/adr/0012-run-inference-in-its-own-threads.md).
 */
import { statedGraph } from '../model/contract.js';
import type { TensorSpec } from '../model/graphs-schema.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Tensor } from '../model/session.js';
import { fieldsAt, fieldsOf, VARINT } from './onnx-fields.js';

type GraphName = keyof BundleManifest['graphs'];

/** A CPU runs one pair at a time, and `statements` gets it in both directions of time: the first axes of inputs. */
const FIRST_AXES: Readonly<Partial<Record<GraphName, Readonly<Record<string, number>>>>> = {
  difference: { coarse_before: 1 },
  check: { memory: 1 },
  pair: { memory: 1 },
  statements: { memory: 2, glance_coarse: 1 },
};

export interface FixedSize {
  /** name of the free size in the graph */
  readonly symbol: string;
  /** at most LARGEST */
  readonly size: number;
}
/** A size is written into one byte of a varint. */
const LARGEST = 127;

/** @returns the sizes to fix: none if the graph has none, or states them as numbers */
export function fixedSizesOf(manifest: BundleManifest, name: GraphName): FixedSize[] {
  const { inputs } = statedGraph(manifest, name);
  return Object.entries(FIRST_AXES[name] ?? {}).flatMap(([input, size]) => {
    const symbol = inputs.find((spec) => spec.name === input)?.shape[0];
    return typeof symbol === 'string' ? [{ symbol, size }] : [];
  });
}

/** @returns the free sizes of inputs as these feeds have them, so far as they are small enough to write */
export function sizesOf(inputs: readonly TensorSpec[], feeds: Readonly<Record<string, Tensor>>): FixedSize[] {
  const sizes = new Map<string, number>();
  for (const { name, shape } of inputs) {
    for (const [axis, symbol] of shape.entries()) {
      const size = feeds[name]?.dims[axis];
      if (typeof symbol === 'string' && size !== undefined && size <= LARGEST) sizes.set(symbol, size);
    }
  }
  return Array.from(sizes, ([symbol, size]) => ({ symbol, size }));
}

/** Numbers of the fields on the way from a model to a size: graph, value, type, tensor type, shape, dimension. */
const PATHS = [11, 12, 13].map((inputOutputOrInner) => [7, inputOutputOrInner, 2, 1, 2, 1]);
const [SIZE, SYMBOL] = [1, 2];

/**
 * @param model bytes of an ONNX file
 * @returns a copy in which each symbol is its number, wherever an input, output or inner tensor has it
 * @throws RangeError if the bytes are no Protocol Buffers
 */
export function withFixedSizes(model: Uint8Array, sizes: readonly FixedSize[]): Uint8Array {
  const copy = model.slice();
  const wanted = new Map(sizes.map(({ symbol, size }) => [symbol, size]));
  for (const path of PATHS) {
    for (const { bytes: dimension } of fieldsAt(copy, path)) {
      const [stated] = fieldsOf(dimension);
      const size = stated?.number === SYMBOL ? wanted.get(Buffer.from(stated.bytes).toString()) : undefined;
      if (size === undefined) continue;
      // As many bytes as before, so that no length around it changes: a varint may end in groups of zeros.
      dimension.fill(0x80).set([(SIZE << 3) | VARINT, 0x80 | size]);
      dimension[dimension.length - 1] = 0;
    }
  }
  return copy;
}
