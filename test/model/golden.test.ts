/**
 * onnxruntime-node says what ONNX Runtime in Python says (which the exporter held to PyTorch), for every bundle that is
 * served. Made by `python -m training.bundle.golden`; the formulas of the inputs stand in training/bundle/golden.py and
 * here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FULL_FRAME_KIND } from '../../src/model/contract.js';
import { loadBundle } from '../../src/model/manifest.js';
import { resizeNormalised, wholeFrame } from '../../src/model/preprocess.js';
import { type Graph, openGraph, type Tensor } from '../../src/model/session.js';

const folder = fileURLToPath(new URL('../fixtures/golden/', import.meta.url));
const models = fileURLToPath(new URL('../../models/', import.meta.url));
/** Largest difference of a float computed in float32. */
const TOLERANCE = 1e-3;
/**
 * The features graph rounds to int8 inside: a last digit can move a cell by one step, and features are about 15 in
 * size.
 */
const FEATURES_TOLERANCE = 0.5;

interface Golden {
  files: Record<string, string>;
  preprocess: { source: [number, number]; samples: number[] };
  features: Record<string, number[]>;
  difference: Record<string, number[]>;
  caption: { ids: number[]; length: number; log_prob: number[]; attention: number[]; kind_logits?: number[] };
}

const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

function wave(shape: readonly number[], phase: number): Tensor {
  return {
    dims: shape,
    data: Float32Array.from({ length: size(shape) }, (_, i) => 3 * Math.sin(0.7 * i + phase)),
  };
}

function picture(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const left = Math.floor(width / 4);
      const bright =
        y >= Math.floor(height / 3) &&
        y < Math.floor(height / 2) &&
        x >= left &&
        x < left + Math.floor(width / 8);
      const pixel = bright
        ? [250, 240, 30]
        : [Math.floor((x * 255) / width), Math.floor((y * 255) / height), ((x + y) * 3) % 256];
      data.set(pixel, (y * width + x) * 3);
    }
  }
  return { width, height, data };
}

/** As numpy's linspace over the indices, truncated. */
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
  (graph.inputs.find((input) => input.name === name)?.shape ?? []).map((s) =>
    typeof s === 'number' ? s : 1,
  );

describe.each(readdirSync(folder).map((file) => file.replace('.json', '')))('bundle %s', (name) => {
  const golden = JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Golden;

  it('is the bundle the golden values were made with', async () => {
    const { manifest } = await loadBundle(`${models}${name}`);
    expect(manifest.files).toEqual(golden.files);
  });

  it('gives the same ids, and floats within the stated tolerances, on inputs unlike the export', async () => {
    const { manifest } = await loadBundle(`${models}${name}`);
    const graph = (key: 'features' | 'difference' | 'caption') =>
      openGraph(`${models}${name}/${manifest.graphs[key].file}`, 'cpu');

    const { width, height, mean, std } = { ...manifest.input };
    const frame = picture(...golden.preprocess.source);
    const look = new Float32Array(3 * width * height);
    resizeNormalised(frame, wholeFrame(frame), width, height, { mean, std }, look);
    expectClose(sampled({ dims: [], data: look }, 64), golden.preprocess.samples, 1e-6);

    const features = await graph('features');
    const image = wave([1, 3, height, width], 0);
    const unit = Float32Array.from(image.data as Float32Array, (v) => Math.fround(Math.fround(v + 3) / 6));
    const seen = await features.run({ image: { dims: image.dims, data: unit } });
    for (const [output, expected] of Object.entries(golden.features)) {
      expectClose(sampled(seen[output], expected.length), expected, FEATURES_TOLERANCE);
    }

    const difference = await graph('difference');
    const inputs = ['coarse_before', 'fine_before', 'coarse_after', 'fine_after'];
    const found = await difference.run(
      Object.fromEntries(inputs.map((input, phase) => [input, wave(shapeOf(difference, input), phase)])),
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
    const said = await caption.run(feeds);
    expect(Array.from(said.ids?.data ?? [], Number)).toEqual(golden.caption.ids);
    expect(Number(said.length?.data[0])).toBe(golden.caption.length);
    expectClose(sampled(said.log_prob, golden.caption.log_prob.length), golden.caption.log_prob, TOLERANCE);
    expectClose(
      sampled(said.attention, golden.caption.attention.length),
      golden.caption.attention,
      TOLERANCE,
    );
    const kinds = golden.caption.kind_logits ?? [];
    expectClose(sampled(said.kind_logits, kinds.length), kinds, TOLERANCE);
  });
});
