/**
 * The three graphs of a bundle as three calls, each over a batch of independent items: features, difference, caption.
 *
 * Letters: B batch, C channels (Cc coarse, Cf fine), H x W input pixels, h x w = H/8 x W/8 map cells, N memory tokens,
 * D width, Q nuisances, R glances, g = glance side / 16, T words. All arrays are row-major.
 */
import type { Box, Heatmap, Side } from '../images.js';
import { COARSE_STRIDE, FINE_STRIDE } from './bundle.js';
import { checkGraph, floatOutput, has, integerOutput, LOOK_KIND, statedSize } from './contract.js';
import type { Bundle, Manifest } from './manifest.js';
import type { Graph, Tensor } from './session.js';

/** Of one picture: coarse [Cc,H/16,W/16], fine [Cf,H/8,W/8]. */
export interface Features {
  readonly coarse: Float32Array;
  readonly fine: Float32Array;
}

/** A pair's features, both of whole frames or both of one crop. */
export interface FeaturePair {
  readonly before: Features;
  readonly after: Features;
}

export interface Difference {
  /** [N,D] */
  readonly memory: Float32Array;
  readonly changeLogit: number;
  /** [K], in the order of the manifest's `kinds` */
  readonly kindLogits: Float32Array;
  /** [Q], in the order of the manifest's `nuisances` */
  readonly nuisanceLogits: Float32Array;
  /** what is in `before` and gone, moved or replaced in `after` */
  readonly before: Heatmap;
  /** what is new in `after` */
  readonly after: Heatmap;
}

/** One place in both frames; boxes are fractions of the frame. */
export interface GlanceFeatures extends FeaturePair {
  readonly crop: Box;
  readonly object: Box;
}

export interface CaptionInput {
  readonly memory: Float32Array;
  /** [K], of the same `Difference` */
  readonly kindLogits: Float32Array;
  /** at most `glance.regions`; ignored by bundles without a second glance */
  readonly glances: readonly GlanceFeatures[];
}

export interface CaptionOutput {
  /** [T] words, then the end id, then pads */
  readonly ids: BigInt64Array;
  /** [T] */
  readonly logProbabilities: Float32Array;
  /** number of words */
  readonly length: number;
  /** [length, N + R * g * g]: row t is what word t looked at */
  readonly attention: readonly Float32Array[];
  /** [K], in the order of the manifest's `kinds`: what the whole look and the glances believe together, and what the words say; null where the
   * bundle's glances have no opinion */
  readonly kindLogits: Float32Array | null;
}

export interface Graphs {
  readonly features: Graph;
  readonly difference: Graph;
  readonly caption: Graph;
}

/**
 * @throws (every method) BundleError where a graph gives other shapes than its manifest promises; Error where a run fails.
 */
export class Captioner {
  readonly #manifest: Manifest;
  readonly #graphs: Graphs;
  readonly #buckets: readonly number[] | null;
  /** Cc, Cf */
  readonly #channels: { readonly coarse: number; readonly fine: number };
  readonly #glancesSeeKind: boolean;

  /**
   * @param buckets the only batch sizes that are run, ascending (a GPU is slow at every new shape; batches are filled up with
   *   zeros); null = any size as it comes
   * @throws BundleError where the graphs do not have the tensors of the contract and of their manifest
   */
  constructor({ manifest }: Bundle, graphs: Graphs, buckets: readonly number[] | null) {
    for (const name of ['features', 'difference', 'caption'] as const) {
      checkGraph(name, graphs[name], manifest);
    }
    this.#manifest = manifest;
    this.#graphs = graphs;
    this.#buckets = buckets;
    this.#channels = {
      coarse: statedSize('features', graphs.features, manifest, 'coarse', 1),
      fine: statedSize('features', graphs.features, manifest, 'fine', 1),
    };
    this.#glancesSeeKind = has(graphs.caption.inputs, LOOK_KIND);
  }

  /** @param images planar float32 [3,height,width] each, normalised as the manifest says; sides are multiples of 16 */
  encode(images: readonly Float32Array[], height: number, width: number): Promise<Features[]> {
    const graph = this.#graphs.features;
    return this.#inBuckets(images, async (batch, B) => {
      const outputs = await graph.run({ image: stack(batch, [3, height, width], B) });
      const output = (scale: keyof Features, stride: number) =>
        floatOutput(graph, outputs, scale, [B, this.#channels[scale], height / stride, width / stride]);
      const coarse = output('coarse', COARSE_STRIDE);
      const fine = output('fine', FINE_STRIDE);
      return batch.map((_, i) => ({ coarse: row(coarse, i, B), fine: row(fine, i, B) }));
    });
  }

  /** @param pairs features of whole frames at the manifest's input size */
  difference(pairs: readonly FeaturePair[]): Promise<Difference[]> {
    const { attention, input, kinds, nuisances } = this.#manifest;
    const coarse = [input.height / COARSE_STRIDE, input.width / COARSE_STRIDE];
    const [h, w] = [input.height / FINE_STRIDE, input.width / FINE_STRIDE];
    const N = attention.grid[0] * attention.grid[1];
    const graph = this.#graphs.difference;
    return this.#inBuckets(pairs, async (batch, B) => {
      const feed = (side: Side, scale: keyof Features, grid: readonly number[]) => {
        const maps = batch.map((pair) => pair[side][scale]);
        return stack(maps, [this.#channels[scale], ...grid], B);
      };
      const outputs = await graph.run({
        coarse_before: feed('before', 'coarse', coarse),
        fine_before: feed('before', 'fine', [h, w]),
        coarse_after: feed('after', 'coarse', coarse),
        fine_after: feed('after', 'fine', [h, w]),
      });
      const output = (name: string, ...shape: number[]) => floatOutput(graph, outputs, name, [B, ...shape]);
      const memory = output('memory', N, -1);
      const change = output('change_logit');
      const kind = output('kind_logits', kinds.length);
      const nuisance = output('nuisance_logits', nuisances.length);
      const maps = { before: output('map_before', h, w), after: output('map_after', h, w) };
      const map = (side: Side, i: number): Heatmap => ({ width: w, height: h, data: row(maps[side], i, B) });
      return batch.map((_, i) => ({
        memory: row(memory, i, B),
        changeLogit: change[i] as number,
        kindLogits: row(kind, i, B),
        nuisanceLogits: row(nuisance, i, B),
        before: map('before', i),
        after: map('after', i),
      }));
    });
  }

  caption(inputs: readonly CaptionInput[]): Promise<CaptionOutput[]> {
    const { attention, glance, kinds, max_length: T } = this.#manifest;
    const N = attention.grid[0] * attention.grid[1];
    const glanceCells = glance === null ? 0 : glance.regions * (glance.size / COARSE_STRIDE) ** 2;
    const graph = this.#graphs.caption;
    return this.#inBuckets(inputs, async (batch, B) => {
      const memories = batch.map((input) => input.memory);
      const outputs = await graph.run({
        memory: stack(memories, [N, -1], B),
        ...(glance === null ? {} : glanceFeeds(batch, glance, this.#channels, B)),
        ...(this.#glancesSeeKind
          ? {
              [LOOK_KIND]: stack(
                batch.map((input) => input.kindLogits),
                [kinds.length],
                B,
              ),
            }
          : {}),
      });
      const ids = integerOutput(graph, outputs, 'ids', [B, T]);
      const logProbabilities = floatOutput(graph, outputs, 'log_prob', [B, T]);
      const lengths = integerOutput(graph, outputs, 'length', [B]);
      const looked = floatOutput(graph, outputs, 'attention', [B, T, N + glanceCells]);
      const kind = this.#glancesSeeKind
        ? floatOutput(graph, outputs, 'kind_logits', [B, kinds.length])
        : null;
      return batch.map((_, i) => {
        const length = Number(lengths[i]);
        const ofItem = row(looked, i, B);
        return {
          ids: row(ids, i, B),
          logProbabilities: row(logProbabilities, i, B),
          length,
          attention: Array.from({ length }, (_, t) => row(ofItem, t, T)),
          kindLogits: kind === null ? null : row(kind, i, B),
        };
      });
    });
  }

  /** Runs every graph at every bucket (or at one), so that no request pays for a first run and wrong shapes show at once. */
  async warmUp(): Promise<void> {
    const { input, glance } = this.#manifest;
    for (const size of this.#buckets ?? [1]) {
      const blank = (height: number, width: number) =>
        this.encode(
          Array.from({ length: size }, () => new Float32Array(3 * height * width)),
          height,
          width,
        );
      const whole = await blank(input.height, input.width);
      const crops = glance === null ? [] : await blank(glance.size, glance.size);
      const differences = await this.difference(
        whole.map((features) => ({ before: features, after: features })),
      );
      await this.caption(
        differences.map(({ memory, kindLogits }, i) => {
          const crop = crops[i];
          const place = { x: 0, y: 0, width: 1, height: 1 };
          const glances =
            crop === undefined ? [] : [{ before: crop, after: crop, crop: place, object: place }];
          return { memory, kindLogits, glances };
        }),
      );
    }
  }

  async release(): Promise<void> {
    for (const graph of Object.values(this.#graphs)) await graph.release();
  }

  /** `run` gets at most the largest bucket's items at once, and the batch size B to fill up to. */
  async #inBuckets<In, Out>(
    items: readonly In[],
    run: (batch: readonly In[], B: number) => Promise<Out[]>,
  ): Promise<Out[]> {
    const most = this.#buckets?.at(-1) ?? items.length;
    const results: Out[] = [];
    for (let start = 0; start < items.length; start += most) {
      const batch = items.slice(start, start + most);
      const B = this.#buckets?.find((size) => size >= batch.length) ?? batch.length;
      results.push(...(await run(batch, B)));
    }
    return results;
  }
}

/**
 * Items of one shape as one tensor [B, ...shape]; rows after the last item are zeros.
 * @param shape -1 stands for what is left of an item's length
 */
function stack(items: readonly Float32Array[], shape: readonly number[], B: number): Tensor {
  const length = items[0]?.length ?? 0;
  const known = shape.reduce((product, size) => (size === -1 ? product : product * size), 1);
  const data = new Float32Array(B * length);
  items.forEach((item, i) => {
    if (item.length !== length || (shape.includes(-1) ? length % known !== 0 : length !== known)) {
      const expected = shape.map((size) => (size === -1 ? 'any' : size)).join('x');
      throw new RangeError(`item ${i} has ${item.length} values, item 0 has ${length}, expected ${expected}`);
    }
    data.set(item, i * length);
  });
  return { dims: [B, ...shape.map((size) => (size === -1 ? length / known : size))], data };
}

/** Item i of B in a batch, without a copy. */
function row<T extends Float32Array | BigInt64Array>(data: T, i: number, B: number): T {
  const length = data.length / B;
  return data.subarray(i * length, (i + 1) * length) as T;
}

/**
 * The second look as tensors; empty slots are zeros, mask included.
 * @param channels Cc and Cf
 */
function glanceFeeds(
  inputs: readonly CaptionInput[],
  { regions: R, size }: NonNullable<Manifest['glance']>,
  channels: { readonly coarse: number; readonly fine: number },
  B: number,
): Record<string, Tensor> {
  const zeros = (...dims: number[]) => ({ dims, data: new Float32Array(dims.reduce((a, b) => a * b)) });
  const [g, f] = [size / COARSE_STRIDE, size / FINE_STRIDE];
  const coarse = zeros(B, R, 2, channels.coarse, g, g);
  const fine = zeros(B, R, 2, channels.fine, f, f);
  const crop = zeros(B, R, 4);
  const object = zeros(B, R, 4);
  const mask = zeros(B, R);
  inputs.forEach((input, i) => {
    input.glances.slice(0, R).forEach((glance, r) => {
      const slot = i * R + r;
      for (const [scale, tensor] of [
        ['coarse', coarse],
        ['fine', fine],
      ] as const) {
        const length = glance.before[scale].length; // axis 2: before, after
        tensor.data.set(glance.before[scale], 2 * slot * length);
        tensor.data.set(glance.after[scale], (2 * slot + 1) * length);
      }
      crop.data.set(corners(glance.crop), slot * 4);
      object.data.set(corners(glance.object), slot * 4);
      mask.data[slot] = 1;
    });
  });
  return {
    glance_coarse: coarse,
    glance_fine: fine,
    glance_box: crop,
    object_box: object,
    glance_mask: mask,
  };
}

const corners = ({ x, y, width, height }: Box): number[] => [x, y, width, height];
