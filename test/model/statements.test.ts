/** The graph `statements` of the bundle that ships writes what its graph `caption` writes, row by row. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBundleGraph } from '../../src/inference/graph-cache.js';
import { Captioner } from '../../src/model/captioner.js';
import type { CaptionOutput, Features, RegionCropFeatures } from '../../src/model/graph-io.js';
import { loadBundle } from '../../src/model/manifest.js';
import { openGraph } from '../../src/model/session.js';

const folder = fileURLToPath(new URL('../../models/scorer-surveillance', import.meta.url));
/** Largest difference of a probability's logarithm or of an attention. */
const TOLERANCE = 1e-4;
/** Crops of each row: together, alone, and both ends of a move in either order. */
const SETS = [[0, 1, 2], [0], [1], [2], [0, 2], [2, 1]];

/** A wave that is unlike any picture, in the range of features. */
const wave = (length: number, phase: number) => Float32Array.from({ length }, (_, i) => Math.sin(0.7 * i + phase));

const features = (phase: number): Features => ({
  coarse: wave(256 * 7 * 7, phase),
  fine: wave(67 * 14 * 14, phase + 1),
});

const crops: RegionCropFeatures[] = [0, 1, 2].map((i) => ({
  before: features(i),
  after: features(i === 2 ? 2.1 : 5 + i * i),
  crop: { x: 0.1 + 0.2 * i, y: 0.2, width: 0.25, height: 0.3 },
  object: { x: 0.15 + 0.2 * i, y: 0.25, width: 0.1 + 0.02 * i, height: 0.2 },
}));
const exchanged = crops.map((crop) => ({ ...crop, before: crop.after, after: crop.before }));
const view = (phase: number) => ({ memory: wave(54 * 256, phase), kindLogits: wave(6, phase) });

/** @param sizes of batches: the graphs are then opened as for a GPU, with one session per shape */
async function openCaptioner(sizes: readonly number[] | null = null) {
  const bundle = await loadBundle(folder);
  const open = (name: 'features' | 'difference' | 'caption' | 'statements') =>
    sizes === null
      ? openGraph(join(folder, `${name}.onnx`), 'cpu')
      : openBundleGraph(bundle, name, 'cuda:0', null, (path, _provider, from) => openGraph(path, 'cpu', from));
  const graphs = {
    features: await open('features'),
    difference: await open('difference'),
    caption: await open('caption'),
    statements: await open('statements'),
  };
  return new Captioner(bundle, graphs, sizes);
}

const farthest = (a: Float32Array, b: Float32Array) =>
  a.reduce(
    (most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))),
    a.length === b.length ? 0 : Infinity,
  );

function expectEqual(got: readonly CaptionOutput[], expected: readonly CaptionOutput[]) {
  expect(got.map(({ ids }) => [...ids])).toEqual(expected.map(({ ids }) => [...ids]));
  for (const [i, one] of got.entries()) {
    const other = expected[i] as CaptionOutput;
    expect(farthest(one.logProbabilities, other.logProbabilities)).toBeLessThan(TOLERANCE);
    expect(farthest(one.kindLogits as Float32Array, other.kindLogits as Float32Array)).toBeLessThan(TOLERANCE);
    for (const [t, row] of one.attention.entries()) {
      expect(farthest(row, other.attention[t] as Float32Array)).toBeLessThan(TOLERANCE);
    }
  }
}

it('writes the words of single rows, in both directions of time', async () => {
  const captioner = await openCaptioner();
  const [given, back] = [view(3), view(4)];
  const rowsOf = (of: typeof given, from: readonly RegionCropFeatures[]) =>
    SETS.map((set) => ({ ...of, crops: set.map((i) => from[i] as RegionCropFeatures) }));
  const expected = await captioner.caption([...rowsOf(given, crops), ...rowsOf(back, exchanged)]);
  const input = { given, exchanged: back, crops, sets: SETS };
  expectEqual((await captioner.statements([input]))[0] ?? [], expected);
});

it('writes no words of a row of which no clause is asked for, and judges its kind', async () => {
  const captioner = await openCaptioner();
  const input = { given: view(3), exchanged: view(4), crops, sets: SETS };
  const shorter = { ...input, clauses: SETS.map((_, i) => (i === 0 ? 0 : 1)) };
  const [allClauses = [], [first, ...others] = []] = await captioner.statements([input, shorter]);
  const back = others.splice(SETS.length - 1, 1);
  expect([first, ...back].map((one) => one?.length)).toEqual([0, 0]);
  expect(first?.kindLogits).toEqual(allClauses[0]?.kindLogits);
  expectEqual(
    others,
    allClauses.filter((_, i) => i % SETS.length > 0),
  );
});

it.each([null, [1, 2]])(
  'writes of each of several pairs what it writes of that pair alone (batches of %j)',
  async (sizes) => {
    const captioner = await openCaptioner(sizes);
    const alone = await openCaptioner();
    const inputs = [
      { given: view(3), exchanged: view(4), crops, sets: SETS },
      { given: view(5), exchanged: view(6), crops: crops.slice(1), sets: [[0], [1]], clauses: [1, 1] },
      { given: view(7), exchanged: view(8), crops: exchanged, sets: [[2, 0]] },
    ];
    const rowsOfPairs = await captioner.statements(inputs);
    for (const [i, input] of inputs.entries()) {
      expectEqual(rowsOfPairs[i] ?? [], (await alone.statements([input]))[0] ?? []);
    }
  },
);
