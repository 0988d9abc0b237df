/** Search vectors of the hand-made graphs, whose values follow from make-tiny-search.py. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Captioner, type Graphs } from '../../src/model/captioner.js';
import type { PairEvidence } from '../../src/model/graph-io.js';
import { type Bundle, loadBundle } from '../../src/model/manifest.js';
import { openGraph } from '../../src/model/session.js';
import { put } from './tiny-bundle.js';
import { tinyWithSearch } from './tiny-search.js';

const folders: string[] = [];
let bundle: Bundle;
let graphs: Graphs;
beforeAll(async () => {
  const { modelsDir, directory } = await tinyWithSearch();
  folders.push(modelsDir);
  bundle = await loadBundle(directory);
  const open = (name: string) => openGraph(join(directory, `${name}.onnx`), 'cpu');
  graphs = {
    features: await open('features'),
    difference: await open('difference'),
    caption: await open('caption'),
    pair: await open('pair'),
    text: await open('text'),
  };
});
afterAll(async () => {
  for (const graph of Object.values(graphs)) await graph.release();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

const captioner = (buckets: readonly number[] | null = null) => new Captioner(bundle, graphs, buckets);
const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/** Evidence whose map of `side` has the given maximum, with or without a region crop. */
function evidence(side: 'before' | 'after', maximum: number, crop = false): PairEvidence {
  const map = (value: number) => ({ width: 12, height: 8, data: new Float32Array(96).fill(value, 40, 41) });
  const box = { x: 0, y: 0, width: 1, height: 1 };
  const features = { coarse: new Float32Array(27), fine: new Float32Array(108) };
  return {
    memory: new Float32Array(48),
    kindLogits: new Float32Array(6),
    crops: crop ? [{ before: features, after: features, crop: box, object: box }] : [],
    before: map(side === 'before' ? maximum : 0),
    after: map(side === 'after' ? maximum : 0),
  };
}

describe('Captioner.embedPairs', () => {
  it('gives each pair a vector of length 1 from its maps and crops', async () => {
    const [gone, shown] = await captioner().embedPairs([evidence('before', 0.8), evidence('after', 1, true)]);
    const [ofGone, ofShown] = [Math.hypot(0.8, 0.01), Math.hypot(1, 1, 0.01)];
    for (const [i, expected] of [0.8 / ofGone, 0, 0, 0.01 / ofGone].entries())
      expect(gone?.[i]).toBeCloseTo(expected, 5);
    for (const [i, expected] of [0, 1, 1, 0.01].entries()) expect(shown?.[i]).toBeCloseTo(expected / ofShown, 5);
  });

  it('gives the same in padded batches', async () => {
    const pairs = [0.2, 0.4, 0.9].map((maximum) => evidence('after', maximum));
    const plain = (await captioner().embedPairs(pairs)).map((vector) => [...vector]);
    expect((await captioner([2]).embedPairs(pairs)).map((vector) => [...vector])).toEqual(plain);
  });

  it('refuses a bundle without the graph', async () => {
    const { pair: _pair, ...others } = graphs;
    const model = new Captioner(bundle, others, null);
    await expect(model.embedPairs([evidence('after', 1)])).rejects.toThrow('has no graph pair');
  });
});

describe('Captioner.embedTexts', () => {
  it('places a text near the pairs that it is true of', async () => {
    const model = captioner();
    const [gone, appeared] = await model.embedPairs([evidence('before', 1), evidence('after', 1)]);
    const [text, other] = await model.embedTexts(['a red thing is GONE!', 'appeared']);
    expect(cosine(text as Float32Array, gone as Float32Array)).toBeGreaterThan(0.99);
    expect(cosine(text as Float32Array, appeared as Float32Array)).toBeLessThan(0.1);
    expect(cosine(other as Float32Array, appeared as Float32Array)).toBeGreaterThan(0.99);
  });

  it('takes nothing, emoji and 10,000 characters, alone and in padded batches', async () => {
    const texts = ['', '\u{1F697}\u{1F4A8}', 'gone '.repeat(2_000)];
    const vectors = await captioner([4]).embedTexts(texts);
    const alone = await Promise.all(texts.map(async (text) => (await captioner().embedTexts([text]))[0]));
    expect(vectors.map((vector) => [...vector])).toEqual(alone.map((vector) => [...(vector as Float32Array)]));
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });

  it('refuses a bundle without the graph', async () => {
    const { text: _text, ...others } = graphs;
    await expect(new Captioner(bundle, others, null).embedTexts(['gone'])).rejects.toThrow('has no graph text');
  });
});

describe('loadBundle refuses', () => {
  it.each<[string, string, unknown, string]>([
    ['vectors without their key', 'search', undefined, '/search, /graphs/pair and /graphs/text: some are set'],
    ['a graph alone', 'graphs.text', undefined, '/search, /graphs/pair and /graphs/text: some are set'],
    ['a special id outside the words', 'search.special.end', 99, '/search/special/end is 99, but its vocabulary has 9'],
    ['a word twice', 'search.vocabulary', ['a', 'b', 'c', 'd', 'a'], '/search/vocabulary holds a word twice'],
    ['a cosine above 1', 'search.least_cosine', 1.5, '/search/least_cosine must be <= 1'],
    ['an unknown key', 'search.colour', 1, '/search has the unknown key "colour"'],
  ])('%s', async (_, path, value, expected) => {
    const { modelsDir, directory } = await tinyWithSearch((manifest) => put(manifest, path, value));
    folders.push(modelsDir);
    await expect(loadBundle(directory)).rejects.toThrow(expected);
  });
});
