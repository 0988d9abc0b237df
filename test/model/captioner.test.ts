/** Runs the graphs of the hand-made bundle, whose outputs follow from make-tiny-bundle.py. */
import { Captioner, type Graphs } from '../../src/model/captioner.js';
import type { Difference, Features } from '../../src/model/graph-io.js';
import type { TensorSpec } from '../../src/model/graphs-schema.js';
import type { Bundle } from '../../src/model/manifest.js';
import type { Graph } from '../../src/model/session.js';
import { toSentence } from '../../src/model/tokenizer.js';
import { encode as encodeBy, HEIGHT, image, openTiny, release, WIDTH } from './tiny-captioner.js';

let bundle: Bundle;
let graphs: Graphs;
beforeAll(async () => {
  ({ bundle, graphs } = await openTiny());
});
afterAll(() => release({ bundle, graphs }));

const captioner = (buckets: readonly number[] | null = null) => new Captioner(bundle, graphs, buckets);
const encode = (pixels: Float32Array, model = captioner()): Promise<Features> => encodeBy(pixels, model);

describe('Captioner.name', () => {
  const specs = (...names: string[]): TensorSpec[] => names.map((name) => ({ name, dtype: 'float32', shape: [] }));
  const spec = {
    file: 'names.onnx',
    inputs: specs('glance_coarse', 'glance_fine', 'glance_box', 'object_box'),
    outputs: specs('noun_logits', 'colour_logits'),
  };

  it('packs one crop per row, and returns the logits of either frame', async () => {
    const fed: Record<string, readonly number[]>[] = [];
    const names: Graph = {
      ...spec,
      run: async (feeds) => {
        fed.push(Object.fromEntries(Object.entries(feeds).map(([name, { dims }]) => [name, dims])));
        const ramp = (...dims: number[]) => {
          const length = dims.reduce((a, b) => a * b);
          return { dims, data: Float32Array.from({ length }, (_, i) => i) };
        };
        return { noun_logits: ramp(2, 2, 3), colour_logits: ramp(2, 2, 1) };
      },
      release: async () => {},
    };
    const manifest = {
      ...bundle.manifest,
      graphs: { ...bundle.manifest.graphs, names: spec },
      names: { nouns: ['nothing', 'car', 'van'], wider: {}, colours: ['red'], plural: {} },
    };
    const model = new Captioner({ ...bundle, manifest }, { ...graphs, names }, null);
    const features = { coarse: new Float32Array(3 * 9), fine: new Float32Array(3 * 36) };
    const box = { x: 0, y: 0, width: 1, height: 1 };
    const crop = { before: features, after: features, crop: box, object: box };
    const [first, second] = await model.name([crop, crop]);
    expect(fed).toEqual([
      { glance_coarse: [2, 2, 3, 3, 3], glance_fine: [2, 2, 3, 6, 6], glance_box: [2, 4], object_box: [2, 4] },
    ]);
    expect([...(first?.after.nouns ?? [])]).toEqual([3, 4, 5]);
    expect([...(second?.before.nouns ?? [])]).toEqual([6, 7, 8]);
    expect([...(second?.after.colours ?? [])]).toEqual([3]);
  });

  it('refuses a graph without a tensor of the contract', () => {
    const manifest = { ...bundle.manifest, graphs: { ...bundle.manifest.graphs, names: spec } };
    const names = { ...spec, outputs: specs('noun_logits'), run: async () => ({}), release: async () => {} };
    expect(() => new Captioner({ ...bundle, manifest }, { ...graphs, names }, null)).toThrow(
      /names.onnx.*has the outputs noun_logits; expected noun_logits, colour_logits/,
    );
  });
});

describe('Captioner', () => {
  it('outputs features on grids of 16 px and 8 px', async () => {
    const { coarse, fine } = await encode(image({ x: 0, y: 0, size: 16, level: 0.8 }));
    expect([coarse.length, fine.length]).toEqual([3 * 4 * 6, 3 * 8 * 12]);
    expect(coarse[0]).toBeCloseTo(0.8, 5);
    expect(coarse[1]).toBeCloseTo(0.2, 5);
  });

  it('marks a new thing in the map of after, a thing that is gone in the map of before', async () => {
    const model = captioner();
    const empty = await encode(image());
    const block = await encode(image({ x: 64, y: 32, size: 16, level: 0.8 }));
    const [appeared, gone] = await model.difference([
      { before: empty, after: block },
      { before: block, after: empty },
    ]);
    expect(Math.max(...(appeared?.before.data ?? []))).toBe(0);
    expect(appeared?.after.data[4 * 12 + 8]).toBe(1);
    expect([...(gone?.before.data ?? [])]).toEqual([...(appeared?.after.data ?? [])]);
    expect(appeared?.changeLogit).toBeCloseTo(6, 4);
  });

  it('returns the outputs of a difference graph for the exchanged pair, per item', async () => {
    const added = { exchanged_memory: 'memory', exchanged_kind_logits: 'kind_logits' } as const;
    const { difference: spec } = bundle.manifest.graphs;
    const outputs = [
      ...spec.outputs,
      ...Object.entries(added).map(([name, of]) => ({ ...spec.outputs.find((one) => one.name === of), name })),
    ] as TensorSpec[];
    const plain = graphs.difference;
    const difference: Graph = {
      ...plain,
      outputs,
      run: async (feeds) => {
        const turn = (name: string) =>
          name.endsWith('before') ? name.replace('before', 'after') : name.replace('after', 'before');
        const turned = await plain.run(Object.fromEntries(Object.entries(feeds).map(([name, x]) => [turn(name), x])));
        const exchanged = Object.entries(added).map(([name, of]) => [name, turned[of]]);
        return { ...(await plain.run(feeds)), ...Object.fromEntries(exchanged) };
      },
    };
    const manifest = { ...bundle.manifest, graphs: { ...bundle.manifest.graphs, difference: { ...spec, outputs } } };
    const model = new Captioner({ ...bundle, manifest }, { ...graphs, difference }, null);
    const [empty, left, right] = await Promise.all([
      encode(image()),
      encode(image({ x: 0, y: 32, size: 16, level: 0.8 })),
      encode(image({ x: 64, y: 32, size: 16, level: 0.4 })),
    ]);
    const pairs = [left, right].map((after) => ({ before: empty, after }));
    const both = await model.difference(pairs);
    const back = await captioner().difference(pairs.map(({ before, after }) => ({ before: after, after: before })));
    expect(both.map(({ exchanged }) => exchanged)).toEqual(
      back.map(({ memory, kindLogits }) => ({ memory, kindLogits })),
    );
  });

  it('outputs the same for an item alone, in a batch and in every bucket', async () => {
    const images = [20, 30, 40].map((x) => image({ x, y: 8, size: 16, level: 0.9 }));
    const alone = await Promise.all(images.map((pixels) => encode(pixels)));
    const empty = await encode(image());
    const run = async (model: Captioner) => {
      const features = await model.encode(images, HEIGHT, WIDTH);
      const differences = await model.difference(features.map((after) => ({ before: empty, after })));
      const inputs = differences.map((difference) => ({ ...difference, crops: [] }));
      return { features, differences, captions: await model.caption(inputs) };
    };
    const batched = await run(captioner());
    expect(batched.features.map((f) => [...f.fine])).toEqual(alone.map((f) => [...f.fine]));
    for (const buckets of [[1], [1, 2], [4]]) {
      const { features, differences, captions } = await run(captioner(buckets));
      expect(features).toEqual(batched.features);
      expect(differences).toEqual(batched.differences);
      expect(captions).toEqual(batched.captions);
    }
  });

  it('writes the sentence of the rules; the attention of each word sums to 1', async () => {
    const model = captioner();
    const [before, after] = [await encode(image()), await encode(image({ x: 64, y: 32, size: 16, level: 0.8 }))];
    const [difference] = await model.difference([{ before, after }]);
    const crop = async (level: number) =>
      (await model.encode([new Float32Array(3 * 48 * 48).fill(level)], 48, 48))[0] as Features;
    const box = { x: 0.5, y: 0.3, width: 0.5, height: 0.7 };
    const regionCrop = { before: await crop(0.2), after: await crop(0.8), crop: box, object: box };
    const { memory, kindLogits } = difference as Difference;
    const [seen, unseen] = await model.caption([
      { memory, kindLogits, crops: [regionCrop] },
      { memory, kindLogits, crops: [] },
    ]);
    const textOf = (output = seen) =>
      output && toSentence(output.ids, output.logProbabilities, output.length, bundle.manifest).text;
    expect(textOf(seen)).toBe('a white thing has appeared on the right');
    expect(textOf(unseen)).toBe('a grey thing has appeared on the right');
    const sums = (part: (row: Float32Array) => Float32Array) =>
      seen?.attention.map((row) => Math.round(part(row).reduce((a, b) => a + b, 0) * 1e4) / 1e4);
    expect(sums((row) => row)).toEqual(Array(8).fill(1));
    // 'white' and 'thing' attend to the region crop
    expect(sums((row) => row.subarray(24))).toEqual([0, 1, 1, 0, 0, 0, 0, 0]);
  });

  describe('with a caption graph whose region crops judge the kind', () => {
    const input: TensorSpec = { name: 'look_kind_logits', dtype: 'float32', shape: ['B', 6] };
    const output: TensorSpec = { name: 'kind_logits', dtype: 'float32', shape: ['B', 6] };
    /** A caption graph that adds 1 to the kind logits of the full frame. */
    const judging = (): Graph => ({
      ...graphs.caption,
      inputs: [...graphs.caption.inputs, input],
      outputs: [...graphs.caption.outputs, output],
      run: async ({ look_kind_logits: fullFrame, ...feeds }) => ({
        ...(await graphs.caption.run(feeds)),
        kind_logits: {
          dims: fullFrame?.dims ?? [],
          data: Float32Array.from(fullFrame?.data as Float32Array, (v) => v + 1),
        },
      }),
    });
    const open = (caption: Graph): Captioner => {
      const manifest = structuredClone(bundle.manifest);
      if (caption.inputs !== graphs.caption.inputs) manifest.graphs.caption.inputs.push(input);
      if (caption.outputs !== graphs.caption.outputs) manifest.graphs.caption.outputs.push(output);
      return new Captioner({ ...bundle, manifest }, { ...graphs, caption }, [2]);
    };

    it('feeds the kind logits of the full frame and returns the joint logits', async () => {
      const kindLogits = Float32Array.from([0, 1, 2, 3, 4, 5]);
      const input = { memory: new Float32Array(48), kindLogits, crops: [] };
      const [plain] = await captioner().caption([input]);
      expect(plain?.kindLogits).toBeNull();
      const [joint] = await open(judging()).caption([input]);
      expect(joint?.kindLogits).toEqual(kindLogits.map((v) => v + 1));
    });

    it('refuses a graph with only the input or only the output', () => {
      expect(() => open({ ...judging(), inputs: graphs.caption.inputs })).toThrow(
        /has the inputs memory.*; expected memory.*look_kind_logits/,
      );
      expect(() => open({ ...judging(), outputs: graphs.caption.outputs })).toThrow(
        /has the outputs ids.*; expected ids.*kind_logits/,
      );
    });
  });

  it('warms up every bucket', async () => {
    const sizes: number[] = [];
    const spy = {
      ...graphs,
      difference: {
        ...graphs.difference,
        run: (feeds: Parameters<typeof graphs.difference.run>[0]) => {
          sizes.push(feeds.coarse_before?.dims[0] as number);
          return graphs.difference.run(feeds);
        },
      },
    };
    await new Captioner(bundle, spy, [1, 2, 4]).warmUpFrames();
    expect(sizes).toEqual([1, 2, 4]);
  });
});
