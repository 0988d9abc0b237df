import { mkdtemp, readdir, readFile, rm, truncate, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { graphCacheIn, openBundleGraph } from '../../src/inference/graph-cache.js';
import { type Bundle, type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import type { Graph, Tensor } from '../../src/model/session.js';
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

/** A run on waves; free sizes are 1 (the batch) or 64 pixels. */
async function answer(graph: Graph) {
  const feeds = graph.inputs.map(({ name, shape }, phase): [string, Tensor] => {
    const dims = shape.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : 64));
    const length = dims.reduce((a, b) => a * b);
    return [name, { dims, data: Float32Array.from({ length }, (_, i) => 0.5 + 0.5 * Math.sin(i + phase)) }];
  });
  const outputs = await graph.run(Object.fromEntries(feeds));
  await graph.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { dims, data }]) => [name, [...dims, ...data]]),
  );
}
const ask = async (bundle: Bundle, name: keyof BundleManifest['graphs'], where: string | null = folder) =>
  answer(await openBundleGraph(bundle, name, 'cpu', where));

describe('a graph cache', () => {
  it.each([
    ['the hand-made bundle', tiny],
    ['the served bundle', served],
  ])('gives back graphs that answer the same to the bit: %s', async (_, load) => {
    const bundle = await load();
    for (const name of GRAPHS) {
      const plain = await ask(bundle, name, null);
      expect(await ask(bundle, name)).toEqual(plain); // optimised, kept
      expect(await ask(bundle, name)).toEqual(plain); // read back
    }
    expect(await readdir(folder)).toHaveLength(GRAPHS.length);
  });

  it('opens what it kept and not the original', async () => {
    const bundle = await tiny();
    const plain = await ask(bundle, 'difference');
    expect(await ask({ ...bundle, directory: '/nowhere' }, 'difference')).toEqual(plain);
  });

  it('makes a damaged one anew', async () => {
    const bundle = await tiny();
    const plain = await ask(bundle, 'difference');
    const [name = ''] = await readdir(folder);
    const whole = await readFile(join(folder, name));
    await truncate(join(folder, name), Math.floor(whole.length / 2));
    expect(await ask(bundle, 'difference')).toEqual(plain);
    expect((await readFile(join(folder, name))).length).toBe(whole.length);
    expect(await readdir(folder)).toEqual([name]);
  });

  it('does without where its folder has gone', async () => {
    const bundle = await tiny();
    expect(await ask(bundle, 'difference', join(dataDir, 'gone'))).toEqual(
      await ask(bundle, 'difference', null),
    );
  });

  it('forgets what nobody opened for a month', async () => {
    const bundle = await tiny();
    await ask(bundle, 'difference');
    const [old = ''] = await readdir(folder);
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    await utimes(join(folder, old), longAgo, longAgo);
    await ask(bundle, 'caption');
    expect(await readdir(folder)).not.toContain(old);
  });

  it('says what is wrong with a bundle whose graph is torn', async () => {
    await expect(ask({ ...(await tiny()), directory: '/nowhere' }, 'difference')).rejects.toThrow(
      '/nowhere/difference.onnx: ONNX Runtime cannot open it',
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not made where there is no data folder', async () => {
    expect(await graphCacheIn(join(dataDir, 'none'))).toBeNull();
  });
});
