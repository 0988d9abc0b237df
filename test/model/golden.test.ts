/**
 * Parity of onnxruntime-node with ONNX Runtime in Python, which the exporter compared with PyTorch, for every bundle of
 * the repository. `python -m training.bundle golden` writes the expected values; the formulas of the inputs are in
 * training/bundle/golden.py and here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FULL_FRAME_KIND } from '../../src/model/contract.js';
import { loadBundle } from '../../src/model/manifest.js';
import { fullFrame, resizeNormalised } from '../../src/model/preprocess.js';
import { type Graph, openGraph, type Tensor } from '../../src/model/session.js';

const folder = fileURLToPath(new URL('../fixtures/golden/', import.meta.url));
const MODELS = ['models/', 'research/models/'].map((path) => fileURLToPath(new URL(`../../${path}`, import.meta.url)));
/** Largest difference of a float that is computed in float32. */
const TOLERANCE = 1e-3;
/**
 * The features graph rounds to int8: a last digit can move a cell by one step. Features have a size of about 15.
 */
const FEATURES_TOLERANCE = 0.5;

interface Golden {
  files: Record<string, string>;
  preprocess: { source: [number, number]; samples: number[] };
  features: Record<string, number[]>;
  difference: Record<string, number[]>;
  people?: Record<string, number[]>;
  check?: Record<string, number[]>;
  pair?: Record<string, number[]>;
  text?: Record<string, number[]>;
  caption: { ids: number[]; length: number; log_prob: number[]; attention: number[]; kind_logits?: number[] };
}

/** Words and the end id of a sentence for the truth check. */
const CHECK_IDS = [4, 5, 6, 7, 3];
const integers = (dims: readonly number[], values: readonly number[]): Tensor => ({
  dims,
  data: BigInt64Array.from(values, BigInt),
});

const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

function wave(shape: readonly number[], phase: number): Tensor {
  return {
    dims: shape,
    data: Float32Array.from({ length: size(shape) }, (_, i) => 3 * Math.sin(0.7 * i + phase)),
  };
}

/** A wave of 0..1. */
function unitWave(shape: readonly number[]): Tensor {
  const { data } = wave(shape, 0);
  return { dims: shape, data: Float32Array.from(data as Float32Array, (v) => Math.fround(Math.fround(v + 3) / 6)) };
}

function image(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const left = Math.floor(width / 4);
      const bright =
        y >= Math.floor(height / 3) && y < Math.floor(height / 2) && x >= left && x < left + Math.floor(width / 8);
      const pixel = bright
        ? [250, 240, 30]
        : [Math.floor((x * 255) / width), Math.floor((y * 255) / height), ((x + y) * 3) % 256];
      data.set(pixel, (y * width + x) * 3);
    }
  }
  return { width, height, data };
}

/** Samples at the truncated indices of numpy's linspace. */
function sampled(tensor: Tensor | undefined, count: number): number[] {
  const flat = Array.from(tensor?.data ?? [], Number);
  const at = (i: number) => (count === 1 ? 0 : Math.floor((i * (flat.length - 1)) / (count - 1) + 1e-9));
  return Array.from({ length: count }, (_, i) => flat[at(i)] ?? Number.NaN);
}

function expectClose(got: number[], expected: number[], tolerance: number) {
  const worst = Math.max(...expected.map((value, i) => Math.abs(value - (got[i] ?? Number.NaN))));
  expect(worst).toBeLessThanOrEqual(tolerance);
}

const shapeOf = (graph: Graph, name: string) =>
  (graph.inputs.find((input) => input.name === name)?.shape ?? []).map((s) => (typeof s === 'number' ? s : 1));

describe.each(readdirSync(folder).map((file) => file.replace('.json', '')))('bundle %s', (name) => {
  const golden = JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Golden;
  const models = MODELS.find((path) => existsSync(`${path}${name}`)) ?? '';

  it('is the bundle of the golden values', async () => {
    const { manifest } = await loadBundle(`${models}${name}`);
    expect(manifest.files).toEqual(golden.files);
  });

  it('has the same ids, and floats within the tolerances, on other inputs than the export', async () => {
    const { manifest } = await loadBundle(`${models}${name}`);
    const graph = (key: 'features' | 'difference' | 'caption') =>
      openGraph(`${models}${name}/${manifest.graphs[key].file}`, 'cpu');

    const { width, height, mean, std } = { ...manifest.input };
    const frame = image(...golden.preprocess.source);
    const input = new Float32Array(3 * width * height);
    resizeNormalised(frame, fullFrame(frame), width, height, { mean, std }, input);
    expectClose(sampled({ dims: [], data: input }, 64), golden.preprocess.samples, 1e-6);

    const features = await graph('features');
    const encoded = await features.run({ image: unitWave([1, 3, height, width]) });
    for (const [output, expected] of Object.entries(golden.features)) {
      expectClose(sampled(encoded[output], expected.length), expected, FEATURES_TOLERANCE);
    }

    const difference = await graph('difference');
    const inputs = ['coarse_before', 'fine_before', 'coarse_after', 'fine_after'];
    const found = await difference.run(
      Object.fromEntries(inputs.map((name, phase) => [name, wave(shapeOf(difference, name), phase)])),
    );
    for (const [output, expected] of Object.entries(golden.difference)) {
      expectClose(sampled(found[output], expected.length), expected, TOLERANCE);
    }

    const caption = await graph('caption');
    const feeds: Record<string, Tensor> = { memory: found.memory as Tensor };
    if (manifest.glance !== null) {
      const R = manifest.glance.regions;
      const boxes = (box: (r: number) => number[]): Tensor => ({
        dims: [1, R, 4],
        data: Float32Array.from(Array.from({ length: R }, (_, r) => box(r)).flat()),
      });
      feeds.glance_coarse = wave(shapeOf(caption, 'glance_coarse'), 0);
      feeds.glance_fine = wave(shapeOf(caption, 'glance_fine'), 1);
      feeds.glance_box = boxes((r) => [0.1 * (r + 1), 0.2, 0.25, 0.3]);
      feeds.object_box = boxes((r) => [0.1 * (r + 1) + 0.05, 0.25, 0.15, 0.2]);
      feeds.glance_mask = {
        dims: [1, R],
        data: Float32Array.from({ length: R }, (_, r) => (r < R - 1 ? 1 : 0)),
      };
    }
    if (caption.inputs.some(({ name }) => name === FULL_FRAME_KIND))
      feeds[FULL_FRAME_KIND] = found.kind_logits as Tensor;
    const captioned = await caption.run(feeds);
    expect(Array.from(captioned.ids?.data ?? [], Number)).toEqual(golden.caption.ids);
    expect(Number(captioned.length?.data[0])).toBe(golden.caption.length);
    expectClose(sampled(captioned.log_prob, golden.caption.log_prob.length), golden.caption.log_prob, TOLERANCE);
    expectClose(sampled(captioned.attention, golden.caption.attention.length), golden.caption.attention, TOLERANCE);
    const kinds = golden.caption.kind_logits ?? [];
    expectClose(sampled(captioned.kind_logits, kinds.length), kinds, TOLERANCE);

    const maps = { map_before: found.map_before as Tensor, map_after: found.map_after as Tensor };
    const evidence = { ...feeds, ...maps, [FULL_FRAME_KIND]: found.kind_logits as Tensor };
    const [example] = manifest.search?.examples ?? [];
    const side = manifest.people?.size ?? 0;
    const further: Record<'people' | 'check' | 'pair' | 'text', () => Record<string, Tensor>> = {
      people: () => ({ image: unitWave([1, 3, side, side]) }),
      check: () => ({ ...evidence, ids: integers([1, 1, CHECK_IDS.length], CHECK_IDS) }),
      pair: () => evidence,
      text: () => ({
        ids: integers([1, example?.ids.length ?? 0], example?.ids ?? []),
        grams: integers([1, example?.grams.length ?? 0, example?.grams[0]?.length ?? 0], example?.grams.flat() ?? []),
      }),
    };
    for (const [key, inputsOf] of Object.entries(further)) {
      const spec = manifest.graphs[key as keyof typeof further];
      expect(spec === undefined).toBe(golden[key as keyof typeof further] === undefined);
      if (spec === undefined) continue;
      const opened = await openGraph(`${models}${name}/${spec.file}`, 'cpu');
      const got = await opened.run(inputsOf());
      for (const [output, expected] of Object.entries(golden[key as keyof typeof further] ?? {})) {
        expectClose(sampled(got[output], expected.length), expected, TOLERANCE);
      }
    }
  });
});
