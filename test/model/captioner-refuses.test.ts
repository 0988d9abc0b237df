/** Contradictions between the graphs and the manifest of a bundle, which a captioner refuses. */
import { BundleError } from '../../src/model/bundle.js';
import { Captioner, type Graphs } from '../../src/model/captioner.js';
import type { Bundle } from '../../src/model/manifest.js';
import { put } from './tiny-bundle.js';
import { encode, image, openTiny, release } from './tiny-captioner.js';

let bundle: Bundle;
let graphs: Graphs;
beforeAll(async () => {
  ({ bundle, graphs } = await openTiny());
});
afterAll(() => release({ bundle, graphs }));

describe('Captioner refuses', () => {
  const edited = (path: string, value: unknown): Bundle => {
    const manifest = structuredClone(bundle.manifest);
    put(manifest, path, value);
    return { ...bundle, manifest };
  };
  const refusal = (run: () => unknown) => {
    expect(run).toThrow(BundleError);
    return expect(run);
  };

  it('a graph in the place of another, with the names of the tensors', () => {
    refusal(() => new Captioner(bundle, { ...graphs, features: graphs.caption }, null)).toThrow(
      /caption\.onnx: has the inputs memory, .*; expected image$/,
    );
  });

  it('inputs for region crops that the manifest does not state', () => {
    refusal(() => new Captioner(edited('glance', null), graphs, null)).toThrow(/expected memory$/);
  });

  it.each<[string, string, unknown, RegExp]>([
    [
      'another size',
      'graphs.difference.outputs.0.shape',
      ['B', 96, 256],
      /output memory is float32 \[B,24,2\], the manifest says float32 \[B,96,256\]/,
    ],
    [
      'another rank',
      'graphs.features.inputs.0.shape',
      ['B', 3],
      /input image is float32 \[B,3,H,W\], the manifest says float32 \[B,3\]/,
    ],
    [
      'another type',
      'graphs.caption.outputs.0.dtype',
      'float32',
      /output ids is int64 \[B,10\], the manifest says float32/,
    ],
    ['another name', 'graphs.features.outputs.0.name', 'rough', /has no output rough, which the manifest states/],
  ])('a manifest that states %s than the graph has', (_, where, value, message) => {
    refusal(() => new Captioner(edited(where, value), graphs, null)).toThrow(message);
  });

  it.each<[string, string, unknown, RegExp]>([
    [
      'more words than the graph outputs',
      'max_length',
      12,
      /caption\.onnx: output ids came as \[1,10\], expected \[1,12\]/,
    ],
    [
      'another attention grid',
      'attention.grid',
      [4, 7],
      /difference\.onnx: output memory came as \[1,24,2\], expected \[1,28,any\]/,
    ],
    [
      'another memory layout',
      'attention.layout',
      { sides: 2, extra: 3 },
      /difference\.onnx: output memory came as \[1,24,2\], expected \[1,51,any\]/,
    ],
    [
      'other nuisances',
      'nuisances',
      ['lighting'],
      /difference\.onnx: output nuisance_logits came as \[1,2\], expected \[1,1\]/,
    ],
  ])('%s, at warm-up', async (_, where, value, message) => {
    const captioner = new Captioner(edited(where, value), graphs, null);
    const warmUp = async () => {
      await captioner.warmUpFrames();
      await captioner.warmUpWords();
    };
    await expect(warmUp()).rejects.toThrow(message);
  });

  it('features of another size, before they reach the graph', async () => {
    const captioner = new Captioner(bundle, graphs, null);
    const features = await encode(image(), captioner);
    const short = { ...features, fine: features.fine.subarray(3) };
    await expect(captioner.difference([{ before: features, after: short }])).rejects.toThrow(
      'item 0 has 285 values, item 0 has 285, expected 3x8x12',
    );
  });
});
