import { mkdtemp, readdir, readFile, rm, truncate, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { openBundleGraph } from '../../src/inference/graph-cache.js';
import { graphCacheIn } from '../../src/inference/graph-folder.js';
import type { TensorSpec } from '../../src/model/graphs-schema.js';
import { type Bundle, type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import { type Graph, openGraph, type Tensor } from '../../src/model/session.js';
import { TINY } from '../model/tiny-bundle.js';

jest.setTimeout(120_000);

const GRAPHS = ['features', 'difference', 'caption'] as const;
const tiny = () => loadBundle(TINY);
const served = () => loadBundle(fileURLToPath(new URL('../../models/scorer-surveillance', import.meta.url)));

let dataDir: string;
let folder: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sd-graphs-'));
  folder = (await graphCacheIn(dataDir)) as string;
});
afterEach(() => rm(dataDir, { recursive: true }));

/** Outputs for waves as input; a free size is 1 for the batch, else 64 pixels. */
async function runOnWaves(graph: Graph) {
  const feeds = graph.inputs.map(({ name, shape }, phase): [string, Tensor] => {
    const dims = shape.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : 64));
    const length = dims.reduce((a, b) => a * b);
    return [name, { dims, data: Float32Array.from({ length }, (_, i) => 0.5 + 0.5 * Math.sin(i + phase)) }];
  });
  const outputs = await graph.run(Object.fromEntries(feeds));
  await graph.release();
  return Object.fromEntries(Object.entries(outputs).map(([name, { dims, data }]) => [name, [...dims, ...data]]));
}
const outputsOf = async (bundle: Bundle, name: keyof BundleManifest['graphs'], where: string | null = folder) =>
  runOnWaves(await openBundleGraph(bundle, name, 'cpu', where));

describe('the graph cache', () => {
  it.each([
    ['the hand-made bundle', tiny],
    ['the served bundle', served],
  ])('returns graphs whose outputs are the same to the bit: %s', async (_, load) => {
    const bundle = await load();
    for (const name of GRAPHS) {
      const plain = await outputsOf(bundle, name, null);
      expect(await outputsOf(bundle, name)).toEqual(plain); // optimised and written
      expect(await outputsOf(bundle, name)).toEqual(plain); // read back
    }
    expect(await readdir(folder)).toHaveLength(GRAPHS.length);
  });

  it('opens the cached graph instead of the original', async () => {
    const bundle = await tiny();
    const plain = await outputsOf(bundle, 'difference');
    expect(await outputsOf({ ...bundle, directory: '/nowhere' }, 'difference')).toEqual(plain);
  });

  it('keeps a copy without shapes of inputs, and states those of the manifest', async () => {
    const bundle = await tiny();
    const { inputs } = bundle.manifest.graphs.difference;
    await outputsOf(bundle, 'difference');
    const [name = ''] = await readdir(folder);
    const copy = await openGraph(join(folder, name), 'cpu', { isOptimised: true });
    expect(copy.inputs).toEqual(inputs.map((input) => ({ ...input, shape: [] })));
    const cached = await openBundleGraph(bundle, 'difference', 'cpu', folder);
    expect(cached.inputs).toEqual(inputs);
    await Promise.all([copy.release(), cached.release()]);
  });

  it('keeps no copy of a graph that differs from the manifest', async () => {
    const bundle = await tiny();
    const { difference } = bundle.manifest.graphs;
    const [first, ...others] = difference.inputs;
    const inputs = [{ ...first, shape: [1, 2, 3, 4] } as TensorSpec, ...others];
    const manifest = {
      ...bundle.manifest,
      graphs: { ...bundle.manifest.graphs, difference: { ...difference, inputs } },
    };
    const graph = await openBundleGraph({ ...bundle, manifest }, 'difference', 'cpu', folder);
    expect(graph.inputs[0]?.shape).not.toEqual([1, 2, 3, 4]);
    expect(await readdir(folder)).toEqual([]);
    await graph.release();
  });

  it('writes a damaged graph again', async () => {
    const bundle = await tiny();
    const plain = await outputsOf(bundle, 'difference');
    const [name = ''] = await readdir(folder);
    const intact = await readFile(join(folder, name));
    await truncate(join(folder, name), Math.floor(intact.length / 2));
    expect(await outputsOf(bundle, 'difference')).toEqual(plain);
    expect((await readFile(join(folder, name))).length).toBe(intact.length);
    expect(await readdir(folder)).toEqual([name]);
  });

  it('opens the original if the folder is gone', async () => {
    const bundle = await tiny();
    expect(await outputsOf(bundle, 'difference', join(dataDir, 'gone'))).toEqual(
      await outputsOf(bundle, 'difference', null),
    );
  });

  it('deletes a graph that was not opened for a month', async () => {
    const bundle = await tiny();
    await outputsOf(bundle, 'difference');
    const [old = ''] = await readdir(folder);
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    await utimes(join(folder, old), longAgo, longAgo);
    await outputsOf(bundle, 'caption');
    expect(await readdir(folder)).not.toContain(old);
  });

  it('reports the file of the bundle if it cannot be opened', async () => {
    await expect(outputsOf({ ...(await tiny()), directory: '/nowhere' }, 'difference')).rejects.toThrow(
      '/nowhere/difference.onnx: ONNX Runtime cannot open it',
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not exist without a data folder', async () => {
    expect(await graphCacheIn(join(dataDir, 'none'))).toBeNull();
  });
});
