/**
 * Runner of a bundle's graphs, each over a batch of independent items.
 *
 * Letters: B batch, C channels (Cc coarse, Cf fine), H x W input pixels, h x w = H/8 x W/8 map cells, N memory tokens,
 * D width, K kinds, Q nuisances, R region crops, g = crop side / 16, T words. All arrays are row-major.
 */
import type { Heatmap, Side } from '../base/images.js';
import { blankCrop, cropTensors, paddedSize, row, separateCropTensors, stack } from './batches.js';
import { COARSE_STRIDE, FINE_STRIDE } from './bundle.js';
import { captionsOf, runStatementsGraph } from './caption-rows.js';
import { runCheckGraph } from './check-graph.js';
import { checkGraph, EXCHANGED, FULL_FRAME_KIND, floatOutput, has, statedSize } from './contract.js';
import type {
  CaptionInput,
  CaptionOutput,
  CheckInput,
  CheckOutput,
  Difference,
  FeaturePair,
  Features,
  PairEvidence,
  PairNames,
  RegionCropFeatures,
  StatementsInput,
} from './graph-io.js';
import type { Bundle, BundleManifest } from './manifest.js';
import { memoryRows } from './memory-layout.js';
import { type DetectedPerson, peopleOf } from './people.js';
import { runPairGraph, runTextGraph } from './search-vectors.js';
import type { Graph, Tensor } from './session.js';

/** On a GPU, crops and sentences of a pair are padded to a multiple of this. The pipeline asks about 6 at most. */
const ROWS_OF_A_PAIR = 6;

export interface Graphs {
  readonly features: Graph;
  readonly difference: Graph;
  readonly caption: Graph;
  /** these if the manifest has them */
  readonly statements?: Graph;
  readonly names?: Graph;
  readonly people?: Graph;
  readonly check?: Graph;
  readonly pair?: Graph;
  readonly text?: Graph;
}

/**
 * Every method throws BundleError if an output has another shape than the manifest states, and Error if a run fails.
 */
export class Captioner {
  readonly #manifest: BundleManifest;
  readonly #graphs: Graphs;
  readonly #buckets: readonly number[] | null;
  /** Cc, Cf */
  readonly #channels: { readonly coarse: number; readonly fine: number };
  readonly #cropsJudgeKind: boolean;

  /**
   * @param buckets the only batch sizes that are run, ascending; smaller batches are padded with zeros, because a GPU
   *   is slow at every new shape; rows of one pair may be a multiple of the largest; null = any size
   * @throws BundleError if the graphs lack tensors of the contract or differ from their manifest
   */
  constructor({ manifest }: Bundle, graphs: Graphs, buckets: readonly number[] | null) {
    for (const [name, graph] of Object.entries(graphs)) checkGraph(name as keyof Graphs, graph, manifest);
    this.#manifest = manifest;
    this.#graphs = graphs;
    this.#buckets = buckets;
    this.#channels = {
      coarse: statedSize('features', graphs.features, manifest, 'coarse', 1),
      fine: statedSize('features', graphs.features, manifest, 'fine', 1),
    };
    this.#cropsJudgeKind = has(graphs.caption.inputs, FULL_FRAME_KIND);
  }

  /**
   * @param images planar float32 [3,height,width] each, normalised as the manifest states; sides are multiples of 16
   */
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

  /** @param pairs features of full frames at the manifest's input size */
  difference(pairs: readonly FeaturePair[]): Promise<Difference[]> {
    const { attention, input, kinds, nuisances } = this.#manifest;
    const coarse = [input.height / COARSE_STRIDE, input.width / COARSE_STRIDE];
    const [h, w] = [input.height / FINE_STRIDE, input.width / FINE_STRIDE];
    const N = memoryRows(attention);
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
      const exchanged = has(graph.outputs, EXCHANGED.memory)
        ? { memory: output(EXCHANGED.memory, N, -1), kind: output(EXCHANGED.kindLogits, kinds.length) }
        : undefined;
      const map = (side: Side, i: number): Heatmap => ({ width: w, height: h, data: row(maps[side], i, B) });
      return batch.map((_, i) => ({
        memory: row(memory, i, B),
        changeLogit: change[i] as number,
        kindLogits: row(kind, i, B),
        nuisanceLogits: row(nuisance, i, B),
        before: map('before', i),
        after: map('after', i),
        ...(exchanged && { exchanged: { memory: row(exchanged.memory, i, B), kindLogits: row(exchanged.kind, i, B) } }),
      }));
    });
  }

  /** @param inputs one per pair: the memory and the kind logits of its `Difference`, and its region crops */
  caption(inputs: readonly CaptionInput[]): Promise<CaptionOutput[]> {
    const { attention, glance: cropRule, kinds } = this.#manifest;
    const N = memoryRows(attention);
    const K = kinds.length;
    const graph = this.#graphs.caption;
    return this.#inBuckets(inputs, async (batch, B) => {
      const memories = batch.map(({ memory }) => memory);
      const feeds: Record<string, Tensor> = { memory: stack(memories, [N, -1], B) };
      if (cropRule !== null) Object.assign(feeds, cropTensors(batch, cropRule, this.#channels, B));
      if (this.#cropsJudgeKind) {
        const logits = batch.map(({ kindLogits }) => kindLogits);
        feeds[FULL_FRAME_KIND] = stack(logits, [K], B);
      }
      return captionsOf(graph, await graph.run(feeds), this.#manifest, batch.length, B);
    });
  }

  /**
   * As `caption`, for many rows about each pair, whose crops are encoded once.
   * @returns per pair one output per set, then one per set with the frames exchanged
   * @throws RangeError if the bundle has no graph `statements`
   */
  async statements(inputs: readonly StatementsInput[]): Promise<CaptionOutput[][]> {
    const { statements } = this.#graphs;
    if (statements === undefined) throw new RangeError('has no graph statements');
    return this.#inBuckets(inputs, (batch, P) =>
      runStatementsGraph(statements, this.#manifest, this.#channels, batch, P, this.#padded),
    );
  }

  /**
   * @param crops region crops of any pairs
   * @returns the names of what each crop shows in either frame
   * @throws RangeError if the bundle has no graph `names`
   */
  name(crops: readonly RegionCropFeatures[]): Promise<PairNames[]> {
    const { glance: cropRule, names } = this.#manifest;
    const graph = this.#graphs.names;
    if (graph === undefined || names === undefined || cropRule === null) throw new RangeError('has no graph names');
    const run = async (batch: readonly RegionCropFeatures[], M: number) => {
      const outputs = await graph.run(separateCropTensors(batch, cropRule, this.#channels, M));
      const nouns = floatOutput(graph, outputs, 'noun_logits', [M, 2, names.nouns.length]);
      const colours = floatOutput(graph, outputs, 'colour_logits', [M, 2, names.colours.length]);
      const side = (i: number, s: number) => ({
        nouns: row(nouns, 2 * i + s, 2 * M),
        colours: row(colours, 2 * i + s, 2 * M),
      });
      return batch.map((_, i) => ({ before: side(i, 0), after: side(i, 1) }));
    };
    return this.#inBuckets(crops, run, ROWS_OF_A_PAIR);
  }

  /**
   * @param images planar float32 [3,size,size] each, normalised as the manifest states for frames
   * @returns the people whom each shows, the highest score first
   * @throws RangeError if the bundle has no graph `people`
   */
  people(images: readonly Float32Array[]): Promise<DetectedPerson[][]> {
    const { people } = this.#manifest;
    const graph = this.#graphs.people;
    if (graph === undefined || people === undefined) throw new RangeError('has no graph people');
    return this.#inBuckets(images, async (batch, M) => {
      const outputs = await graph.run({ image: stack(batch, [3, people.size, people.size], M) });
      const scores = floatOutput(graph, outputs, 'scores', [M, -1]);
      const boxes = floatOutput(graph, outputs, 'boxes', [M, -1, 4]);
      return batch.map((_, i) => peopleOf(row(scores, i, M), row(boxes, i, M), people));
    });
  }

  /**
   * @returns per pair, how well each of its sentences fits it
   * @throws RangeError if the bundle has no graph `check`
   */
  async check(inputs: readonly CheckInput[]): Promise<CheckOutput[][]> {
    const { check } = this.#graphs;
    if (check === undefined) throw new RangeError('has no graph check');
    return this.#inBuckets(inputs, (batch, P) =>
      runCheckGraph(check, this.#manifest, this.#channels, batch, P, this.#buckets === null ? null : this.#padded),
    );
  }

  /**
   * @returns the search vector of each pair: `search.dimensions` numbers, of length 1
   * @throws RangeError if the bundle has no graph `pair`
   */
  async embedPairs(pairs: readonly PairEvidence[]): Promise<Float32Array[]> {
    const { pair } = this.#graphs;
    if (pair === undefined) throw new RangeError('has no graph pair');
    return this.#inBuckets(pairs, (batch, B) => runPairGraph(pair, this.#manifest, this.#channels, batch, B));
  }

  /**
   * @param texts of any length and content
   * @returns the search vector of each text, comparable with those of pairs by the cosine
   * @throws RangeError if the bundle has no graph `text`
   */
  async embedTexts(texts: readonly string[]): Promise<Float32Array[]> {
    const { search } = this.#manifest;
    const { text } = this.#graphs;
    if (text === undefined || search === undefined) throw new RangeError('has no graph text');
    return this.#inBuckets(texts, (batch, B) => runTextGraph(text, search, batch, B));
  }

  /**
   * Runs the graphs that read pixels and their features, at every bucket, so that no request waits for a first run and
   * wrong shapes show at start.
   */
  async warmUpFrames(): Promise<void> {
    const { input, glance: cropRule, people } = this.#manifest;
    for (const size of this.#buckets ?? [1]) {
      const blanks = (height: number, width: number) =>
        new Array<Float32Array>(size).fill(new Float32Array(3 * height * width));
      const frames = await this.encode(blanks(input.height, input.width), input.height, input.width);
      if (cropRule !== null) await this.encode(blanks(cropRule.size, cropRule.size), cropRule.size, cropRule.size);
      await this.difference(frames.map((features) => ({ before: features, after: features })));
      if (this.#graphs.people !== undefined && people !== undefined)
        await this.people(blanks(people.size, people.size));
    }
  }

  /** As `warmUpFrames`, for the graphs that write and check the words of a changed pair. */
  async warmUpWords(): Promise<void> {
    const { attention, glance: cropRule, input, kinds } = this.#manifest;
    const D = statedSize('difference', this.#graphs.difference, this.#manifest, 'memory', 2);
    const memory = new Float32Array(memoryRows(attention) * D);
    const pair = { memory, kindLogits: new Float32Array(kinds.length) };
    const crops = cropRule === null ? [] : [blankCrop(cropRule, this.#channels)];
    const [width, height] = [input.width / FINE_STRIDE, input.height / FINE_STRIDE];
    const map = { width, height, data: new Float32Array(width * height) };
    const asked = { ...pair, before: map, after: map, crops, sentences: [['nothing']] };
    const stated = { given: pair, exchanged: pair, crops, sets: [crops.map((_, i) => i)] };
    for (const size of this.#buckets ?? [1]) {
      const ofPairs = <T>(one: T) => new Array<T>(size).fill(one);
      if (this.#graphs.statements === undefined) await this.caption(ofPairs({ ...pair, crops }));
      else await this.statements(ofPairs(stated));
      const named = this.#buckets === null ? crops : new Array(ROWS_OF_A_PAIR).fill(crops).flat();
      if (this.#graphs.names !== undefined) await this.name(ofPairs(named).flat());
      if (this.#graphs.check !== undefined) await this.check(ofPairs(asked));
    }
  }

  async release(): Promise<void> {
    for (const graph of Object.values(this.#graphs)) await graph.release();
  }

  /** On a GPU, rows of a pair are padded, so that few shapes occur. */
  readonly #padded = (count: number): number =>
    this.#buckets === null ? count : Math.ceil(count / ROWS_OF_A_PAIR) * ROWS_OF_A_PAIR;

  /**
   * @param run gets at most as many items as the largest bucket, and the batch size B to pad them to
   * @param rows of the graph per item of a bucket
   */
  async #inBuckets<In, Out>(
    items: readonly In[],
    run: (batch: readonly In[], B: number) => Promise<Out[]>,
    rows = 1,
  ): Promise<Out[]> {
    const buckets = this.#buckets?.map((size) => size * rows) ?? null;
    const most = buckets?.at(-1) ?? items.length;
    const results: Out[] = [];
    for (let start = 0; start < items.length; start += most) {
      const batch = items.slice(start, start + most);
      results.push(...(await run(batch, paddedSize(batch.length, buckets))));
    }
    return results;
  }
}
