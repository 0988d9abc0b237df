/** Sizes that are fixed in a graph before it is optimised. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixedSizesOf, withFixedSizes } from '../../src/inference/fixed-sizes.js';
import { loadBundle } from '../../src/model/manifest.js';
import { type Graph, openGraph, type Tensor } from '../../src/model/session.js';
import { TINY } from '../model/tiny-bundle.js';

const SERVED = fileURLToPath(new URL('../../models/scorer-surveillance', import.meta.url));

async function opened(directory: string, name: 'difference' | 'statements') {
  const { manifest } = await loadBundle(directory);
  const file = join(directory, manifest.graphs[name]?.file ?? '');
  const fixed = fixedSizesOf(manifest, name);
  const bytes = withFixedSizes(await readFile(file), fixed);
  return { fixed, graphs: [await openGraph(file, 'cpu'), await openGraph(file, 'cpu', { bytes })] as const };
}

const shapes = ({ inputs, outputs }: Graph) => [...inputs, ...outputs].map(({ shape }) => shape);

it.each([
  ['difference', SERVED, [1]],
  ['difference', TINY, [1]],
  ['statements', SERVED, [2, 1]],
] as const)('states the number wherever %s of %s had the symbol', async (name, directory, sizes) => {
  const { fixed, graphs } = await opened(directory, name);
  const [free, set] = graphs.map(shapes);
  expect(fixed.map(({ size }) => size)).toEqual(sizes);
  for (const { symbol } of fixed) expect(free?.flat()).toContain(symbol);
  const sizeOf = (axis: number | string) => fixed.find(({ symbol }) => symbol === axis)?.size ?? axis;
  expect(set).toEqual(free?.map((shape) => shape.map(sizeOf)));
  await Promise.all(graphs.map((graph) => graph.release()));
});

it('leaves the answers as they were', async () => {
  const { graphs } = await opened(SERVED, 'difference');
  const feeds = Object.fromEntries(
    graphs[1].inputs.map(({ name, shape }, phase): [string, Tensor] => {
      const dims = shape.map(Number);
      const length = dims.reduce((a, b) => a * b);
      return [name, { dims, data: Float32Array.from({ length }, (_, i) => Math.sin(i * (1 + phase))) }];
    }),
  );
  const [free, set] = [await graphs[0].run(feeds), await graphs[1].run(feeds)];
  for (const [name, { dims, data }] of Object.entries(free)) {
    expect(set[name]?.dims).toEqual(dims);
    const apart = [...data].map((value, i) => Math.abs(Number(value) - Number(set[name]?.data[i])));
    expect(Math.max(...apart)).toBeLessThan(1e-5);
  }
  await Promise.all(graphs.map((graph) => graph.release()));
});

it('fixes no size of a graph that runs any number of rows', async () => {
  const { manifest } = await loadBundle(SERVED);
  expect(fixedSizesOf(manifest, 'features')).toEqual([]);
  expect(fixedSizesOf(manifest, 'names')).toEqual([]);
});

it('refuses bytes that are no model', () => {
  const fixed = [{ symbol: 'B', size: 1 }];
  expect(() => withFixedSizes(Uint8Array.of(0x3f), fixed)).toThrow('expected Protocol Buffers');
  expect(() => withFixedSizes(Uint8Array.of(0x08, 0x80), fixed)).toThrow('ends within a number');
});
