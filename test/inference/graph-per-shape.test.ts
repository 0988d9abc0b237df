/** On a GPU no session sees a second input shape. The sessions of these tests are on the CPU. */
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { openBundleGraph } from '../../src/inference/graph-cache.js';
import { openAtFirstRun, perShape } from '../../src/inference/lazy-graph.js';
import { Captioner } from '../../src/model/captioner.js';
import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import { type Graph, openGraph, type Provider } from '../../src/model/session.js';

jest.setTimeout(120_000);

type GraphName = keyof BundleManifest['graphs'];

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
    people: await openRecorded('people'),
    caption: openAtFirstRun(bundle, 'caption', () => openRecorded('caption')),
    statements: await openRecorded('statements'),
    names: await openRecorded('names'),
    check: await openRecorded('check'),
  };
  return {
    captioner: new Captioner(bundle, graphs, provider === 'cpu' ? null : [1, 2]),
    sessions,
    size: bundle.manifest.people?.size ?? 0,
  };
}

/** Runs the graphs that a GPU runs, with 1 to 5 frames, crops, pairs and regions. */
async function seeFrames({ captioner, size }: Awaited<ReturnType<typeof open>>, isOnCpu = false) {
  const blanks = (count: number, height: number, width = height) =>
    Array.from({ length: count }, () => new Float32Array(3 * height * width));
  for (let count = 1; count <= 5; count++) {
    const frames = await captioner.encode(blanks(count, 192, 288), 192, 288);
    expect(await captioner.encode(blanks(count, 112), 112, 112)).toHaveLength(count);
    const pairs = frames.map((features) => ({ before: features, after: features }));
    const taken = isOnCpu ? pairs.slice(0, 1) : pairs; // the graph of a CPU has one row
    expect(await captioner.difference(taken)).toHaveLength(taken.length);
    expect(await captioner.people(blanks(count, size))).toHaveLength(count);
  }
}

/** Runs the graphs of words with 1 to 3 pairs, each of another number of crops and sentences. */
async function writeWords(captioner: Captioner) {
  const box = { x: 0.2, y: 0.2, width: 0.3, height: 0.3 };
  const features = { coarse: new Float32Array(256 * 7 * 7), fine: new Float32Array(67 * 14 * 14) };
  const view = { memory: new Float32Array(54 * 256), kindLogits: new Float32Array(6) };
  const map = { width: 36, height: 24, data: new Float32Array(24 * 36) };
  const pairs = [1, 5, 6].map((count) => ({
    crops: Array.from({ length: count }, () => ({ before: features, after: features, crop: box, object: box })),
    sentences: Array.from({ length: count }, (_, i) => new Array<string>(1 + i).fill('car')),
  }));
  for (let count = 1; count <= pairs.length; count++) {
    const some = pairs.slice(0, count);
    const sets = (crops: readonly unknown[]) => crops.map((_, i) => [i]);
    await captioner.statements(some.map(({ crops }) => ({ given: view, exchanged: view, crops, sets: sets(crops) })));
    await captioner.check(some.map((one) => ({ ...view, before: map, after: map, ...one })));
    await captioner.name(some.flatMap(({ crops }) => crops));
  }
}

it('runs no session with two shapes on a GPU, and few sessions', async () => {
  const opened = await open('cuda:0');
  const { captioner, sessions } = opened;
  await captioner.warmUpFrames();
  await captioner.warmUpWords();
  const warm = sessions.length;
  await seeFrames(opened);
  await writeWords(captioner);
  expect(sessions).toHaveLength(warm); // every shape is planned at the start
  expect(sessions.filter(({ shapes }) => shapes.size > 1)).toEqual([]);
  const counts: Partial<Record<GraphName, number>> = {};
  const ran = sessions.filter(({ shapes }) => shapes.size > 0); // one more states the tensors of each graph
  for (const { name } of ran) counts[name] = (counts[name] ?? 0) + 1;
  // Frames and crops, pairs, regions with people, and words of pairs, each by 1 and 2.
  expect(counts).toEqual({ features: 4, difference: 2, people: 2, statements: 2, names: 2, check: 2 });
  await captioner.release();
});

it('runs one session per graph with all shapes on a CPU', async () => {
  const opened = await open('cpu');
  const { captioner, sessions } = opened;
  await seeFrames(opened, true);
  expect(sessions.map(({ name }) => name)).toEqual([
    'features',
    'difference',
    'people',
    'statements',
    'names',
    'check',
  ]);
  await captioner.release();
});

it('opens a shape again after a failure, and releases every session', async () => {
  const graph = (): Graph & { released: number } => ({
    ...{ file: 'a.onnx', inputs: [], outputs: [], released: 0 },
    run: async (feeds) => feeds,
    async release() {
      this.released += 1;
    },
  });
  const [stated, first, second] = [graph(), graph(), graph()];
  const open = jest.fn<() => Promise<Graph>>().mockResolvedValueOnce(first);
  open.mockRejectedValueOnce(new Error('out of memory')).mockResolvedValue(second);
  const all = perShape(stated, open);
  const feeds = (size: number) => ({ a: { dims: [size], data: new Float32Array(size) } });
  await all.run(feeds(1));
  expect(stated.released).toBe(1);
  await expect(all.run(feeds(2))).rejects.toThrow('out of memory');
  expect(await all.run(feeds(2))).toEqual(feeds(2));
  await all.run(feeds(1));
  expect(open).toHaveBeenCalledTimes(3);
  await all.release();
  expect([stated, first, second].map(({ released }) => released)).toEqual([1, 1, 1]);
});
