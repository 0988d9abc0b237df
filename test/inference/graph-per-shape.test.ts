/** On a GPU no session sees a second input shape. The sessions of these tests are on the CPU. */
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { openBundleGraph } from '../../src/inference/graph-cache.js';
import { perShape } from '../../src/inference/lazy-graph.js';
import { Captioner } from '../../src/model/captioner.js';
import type { Difference, RegionCropFeatures } from '../../src/model/graph-io.js';
import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import { type Graph, openGraph, type Provider } from '../../src/model/session.js';

jest.setTimeout(120_000);

type GraphName = keyof BundleManifest['graphs'];
const box = { x: 0, y: 0, width: 1, height: 1 };
const words = ['a', 'car', 'has', 'appeared', 'on', 'the', 'left'];

/** @returns a captioner of the bundle that ships, with batches of at most 2, and the input shapes of each session */
async function open(provider: Provider) {
  const sessions: { readonly name: GraphName; readonly shapes: Set<string> }[] = [];
  const bundle = await loadBundle(fileURLToPath(new URL('../../models/scorer-surveillance', import.meta.url)));
  const openRecorded = (name: GraphName): Promise<Graph> =>
    openBundleGraph(bundle, name, provider, null, async (path, _provider, from) => {
      const graph = await openGraph(path, 'cpu', { ...from, isOptimised: true }); // opens sooner
      const shapes = new Set<string>();
      sessions.push({ name, shapes });
      const run: Graph['run'] = (feeds) => {
        shapes.add(JSON.stringify(Object.values(feeds).map(({ dims }) => dims)));
        return graph.run(feeds);
      };
      return { ...graph, run };
    });
  const graphs = {
    features: await openRecorded('features'),
    difference: await openRecorded('difference'),
    caption: await openRecorded('caption'),
    statements: await openRecorded('statements'),
    names: await openRecorded('names'),
    check: await openRecorded('check'),
  };
  return { captioner: new Captioner(bundle, graphs, provider === 'cpu' ? null : [1, 2]), sessions };
}

/** Runs the graphs of one pair with 1 to 5 crops, statements and sentences of different lengths. */
async function compareWithCrops(captioner: Captioner) {
  const blank = (height: number, width: number) => new Float32Array(3 * height * width);
  const [frame] = await captioner.encode([blank(192, 288)], 192, 288);
  const [crop] = await captioner.encode([blank(112, 112)], 112, 112);
  if (frame === undefined || crop === undefined) throw new Error('no features');
  const [difference] = (await captioner.difference([{ before: frame, after: frame }])) as [Difference];
  const shown: RegionCropFeatures = { before: crop, after: crop, crop: box, object: box };
  for (let count = 1; count <= 5; count++) {
    const crops = Array.from({ length: count }, () => shown);
    await captioner.statements({ given: difference, exchanged: difference, crops, sets: crops.map((_, i) => [i]) });
    await captioner.name(crops);
    const sentences = crops.map((_, i) => words.slice(i));
    expect(await captioner.check({ ...difference, crops: [shown], sentences })).toHaveLength(count);
  }
}

it('runs no session with two shapes on a GPU, and few sessions', async () => {
  const { captioner, sessions } = await open('cuda:0');
  await captioner.warmUp();
  await compareWithCrops(captioner);
  expect(sessions.filter(({ shapes }) => shapes.size > 1)).toEqual([]);
  const counts: Partial<Record<GraphName, number>> = {};
  for (const { name } of sessions) counts[name] = (counts[name] ?? 0) + 1;
  // Frames and crops by 1 and 2; rows 2, 4, 8 and 12 with crops 1 to 6; sentences 1, 2, 4 and 6.
  expect(counts).toEqual({ features: 4, difference: 2, caption: 1, statements: 5, names: 2, check: 4 });
  await captioner.release();
});

it('runs one session per graph with all shapes on a CPU', async () => {
  const { captioner, sessions } = await open('cpu');
  await compareWithCrops(captioner);
  expect(sessions.map(({ name }) => name)).toEqual([
    'features',
    'difference',
    'caption',
    'statements',
    'names',
    'check',
  ]);
  await captioner.release();
});

it('opens a shape again after a failure, and releases every session', async () => {
  const graph = (): Graph & { released: boolean } => ({
    ...{ file: 'a.onnx', inputs: [], outputs: [], released: false },
    run: async (feeds) => feeds,
    async release() {
      this.released = true;
    },
  });
  const [first, second] = [graph(), graph()];
  const openAgain = jest.fn<() => Promise<Graph>>().mockRejectedValueOnce(new Error('out of memory'));
  openAgain.mockResolvedValue(second);
  const both = perShape(first, openAgain);
  const feeds = (size: number) => ({ a: { dims: [size], data: new Float32Array(size) } });
  await both.run(feeds(1));
  await expect(both.run(feeds(2))).rejects.toThrow('out of memory');
  expect(await both.run(feeds(2))).toEqual(feeds(2));
  await both.run(feeds(1));
  expect(openAgain).toHaveBeenCalledTimes(2);
  await both.release();
  expect([first.released, second.released]).toEqual([true, true]);
});
