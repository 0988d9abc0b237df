/** The pipeline: two encoded frames in, a finding and heatmaps out. Start reading at `Pipeline.compare`. */
import { DecodedFrames, type HeldBuffers } from '../frames/decoded-frames.js';
import { pairInEightBits } from '../frames/deep-grey.js';
import { fillLostRows, isCut } from '../frames/lost-rows.js';
import { allSettledOrThrow, haveSamePixels, mapSides } from '../frames/pair.js';
import { FeatureCache } from '../inference/feature-cache.js';
import type { InferencePool } from '../inference/pool.js';
import type { CheckOutput, FeaturePair } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import { findRegions } from '../model/regions.js';
import type { Config } from '../process/config.js';
import type { CheckAnswer } from '../schemas/ask.js';
import type { Viewpoint } from '../schemas/comparison.js';
import { keepRegions } from '../schemas/finding.js';
import type { Lost } from '../schemas/loss.js';
import type { ModelDescription } from '../schemas/model-description.js';
import type { Registration } from '../viewpoint/registration.js';
import { answerOf, answerWithoutModel, readQuestion } from './ask.js';
import { Catalogue, type OperatingPoints } from './catalogue.js';
import { embedder } from './crops-about.js';
import { type CaptionParts, captionPair, type Wanted } from './describe.js';
import { Encoder } from './encoder.js';
import {
  changedFinding,
  coveredFinding,
  identicalFinding,
  lostFinding,
  tamperedFinding,
  unchangedFinding,
  viewpointOf,
} from './finding.js';
import { assertOneView, type FittedPair, fitPair } from './fitted-pair.js';
import { NO_EVENTS } from './judge-evidence.js';
import { hiddenByLens, type LocatedRegions, locate } from './lens.js';
import { isCovered, isUnusable, lensCover, lostOf, outsideOf } from './lost-parts.js';
import { chooseAlignment, fuse } from './nuisance-fusion.js';
import type { AlignedPair, EmbeddedTexts, FramePair, PairInput, PairOutput, Seen } from './pair.js';
import { seenThings } from './seen-things.js';
import { type PipelineOptions, startPool } from './start-pool.js';
import { type Stopwatch, stopwatch, withTimeLimit } from './stopwatch.js';
import { fuseTampers } from './tamper-fusion.js';
import { emptyLike, mapToSourceFrame, wordHeatmaps } from './word-heatmaps.js';

/** State of one comparison. */
interface Comparison extends Stopwatch, Wanted {
  readonly input: PairInput;
  /** pixel buffers to be given back at the end */
  readonly buffers: HeldBuffers;
}

export class Pipeline {
  readonly #catalogue: Catalogue;
  readonly #truth: number;
  readonly #parts: CaptionParts;
  readonly #limits: Pick<Config, 'pixelLimit' | 'decodeTimeout' | 'comparisonTimeout'>;
  readonly #frames: DecodedFrames;

  private constructor({ config, onCacheLookup }: PipelineOptions, bundles: Bundle[], pool: InferencePool) {
    this.#catalogue = new Catalogue(bundles, config.defaultModel, pool.provider);
    this.#truth = config.truth;
    this.#limits = config;
    const limit = config.featureCacheMb * 1024 * 1024;
    this.#frames = new DecodedFrames(limit);
    this.#parts = { pool, encoder: new Encoder(pool, new FeatureCache(limit, onCacheLookup)) };
  }

  /**
   * Loads the bundles and starts the inference threads.
   * @param starting threads that were started before this file was loaded
   * @throws BundleError if the default bundle is missing or broken; Error if STRICT_DEVICE cannot be met
   */
  static async start(options: PipelineOptions, starting = startPool(options)): Promise<Pipeline> {
    const { served, pool } = await starting;
    return new Pipeline(options, served, pool);
  }

  /**
   * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small (field before or after),
   *   frames-differ-in-shape, unknown-model, cancelled, inference-failed, processing-timeout
   */
  async compare(input: PairInput): Promise<PairOutput> {
    return withTimeLimit(this.#limits.comparisonTimeout, input.signal, (signal) => this.#compare({ ...input, signal }));
  }

  /**
   * @returns how probable a sentence is of a pair; of a tampered view, whose frames show nothing, 0
   * @throws ScenedeltaError as `compare`, and invalid-value (field sentence) if the bundle has no truth check, or if
   *   none of the words is in its vocabulary
   */
  async ask(input: PairInput, sentence: string): Promise<CheckAnswer> {
    const { comparisonTimeout } = this.#limits;
    const { pool, encoder } = this.#parts;
    const { manifest } = this.#catalogue.get(input.model ?? null);
    const read = readQuestion(sentence, manifest);
    return withTimeLimit(comparisonTimeout, input.signal, (signal) =>
      this.#withEvidence({ ...input, signal }, async (comparison, seen) => {
        if ('finding' in seen) return answerWithoutModel(read, seen.finding);
        const regions = findRegions(seen.pair.difference, manifest.regions);
        const most = manifest.glance?.regions ?? 0;
        const crops = await encoder.encodeCrops(comparison.bundle, seen.pair.frames, regions, most);
        const sentences = [read.words];
        const [output] = await pool.run('check', manifest.name, { ...seen.pair.difference, crops, sentences });
        return answerOf(read, output as CheckOutput);
      }),
    );
  }

  #compare(input: PairInput): Promise<PairOutput> {
    return this.#withEvidence(input, async (comparison, seen) => {
      const { timings, step, bundle } = comparison;
      if ('finding' in seen) return { finding: seen.finding, heatmaps: null, timings };
      const { pair, evidence, viewpoint, lost } = seen;
      const fused = fuse(pair.difference, evidence, bundle.manifest, input.threshold);
      const all = fused.changed ? outsideOf(findRegions(pair.difference, bundle.manifest.regions), lost?.boxes) : [];
      const cover = lensCover(seen, bundle.manifest, all);
      const located = await step('register', () => locate(this.#parts, comparison, pair, fused, all, cover));
      const lens = located.mostOnLens ? lensCover(seen, bundle.manifest, located.regions, true) : cover;
      // A change without regions may be anywhere, except if a lost part explains it.
      const output =
        located.prediction.changed && (located.regions.length > 0 || (lost === null && lens === null))
          ? await this.#finishChanged(comparison, pair, located, viewpoint)
          : this.#finishUnchanged(comparison, pair, located, viewpoint, lost);
      const parts = { ...(lost && { lost }), ...hiddenByLens(located, lens, pair) };
      return { ...output, finding: { ...output.finding, ...parts }, timings };
    });
  }

  /** Decodes, gathers the evidence and aligns; `use` gets the pair, or a finding that needs no model. */
  async #withEvidence<T>(given: PairInput, use: (comparison: Comparison, seen: Seen) => Promise<T>): Promise<T> {
    const input = await pairInEightBits(given, this.#limits);
    const { statements = false, secondsApart = null } = input;
    const bundle = this.#catalogue.get(input.model ?? null);
    const wanted: Wanted = { bundle, truth: input.truth ?? this.#truth, statements, secondsApart };
    const comparison: Comparison = { input, ...wanted, buffers: [], ...stopwatch(input.signal) };
    try {
      return await use(comparison, await this.#see(comparison));
    } finally {
      this.#frames.giveBack(comparison.buffers);
    }
  }

  async #see(comparison: Comparison): Promise<Seen> {
    const { manifest } = comparison.bundle;
    const { frames, stretchedFrom } = await this.#decode(comparison);
    const isWhole = !isCut(frames.before) && !isCut(frames.after);
    if (isWhole && stretchedFrom === null && haveSamePixels(frames)) return { finding: identicalFinding() };
    const { evidence, features, unaligned } = await this.#gatherEvidence(comparison, frames);
    assertOneView(stretchedFrom, frames.before, evidence);
    const viewpoint = viewpointOf(evidence, frames.after.sourceWidth);
    const lost = lostOf(frames, manifest.camera === 'moving' ? null : evidence);
    // A camera's whole frame takes the place of a damaged "before".
    const ofCamera = (comparison.input.camera ?? null) !== null;
    const isJudged = lost === null || !isUnusable(lost) || (ofCamera && lost.side === 'before');
    if (!isJudged) return { finding: lostFinding(lost, viewpoint) };
    const tampers = lost === null ? fuseTampers(manifest, evidence, features, ofCamera) : [];
    if (tampers.length > 0) return { finding: tamperedFinding(tampers, viewpoint) };
    const cover = lensCover({ evidence, lost }, manifest, []);
    if (cover !== null && isCovered(cover)) return { finding: coveredFinding(cover, viewpoint) };
    const alignment = chooseAlignment(evidence, manifest);
    const pair =
      alignment === null
        ? { frames, difference: unaligned, features, toSourceFrame: mapToSourceFrame(null) }
        : await this.#align(comparison, frames, features, alignment);
    return { pair, evidence, viewpoint, lost };
  }

  async #decode({ step, input, buffers }: Comparison): Promise<FittedPair> {
    const { pixelLimit, decodeTimeout } = this.#limits;
    const fitted = await step('decode', async () => {
      const frames = await mapSides((side) => {
        const decoded = side === 'after' ? (input.afterDecoded ?? undefined) : undefined;
        const options = { field: side, pixelLimit, decodeTimeout, decoded };
        return this.#frames.decode(input[side], input[`${side}Key`], options, buffers);
      });
      return fitPair(frames, (bytes) => this.#frames.take(bytes, buffers));
    });
    fillLostRows(fitted.frames);
    return fitted;
  }

  /** Measures the viewpoint while the graphs read the unaligned frames: only a camera that moved costs a second run. */
  async #gatherEvidence({ step, input, bundle }: Comparison, frames: FramePair) {
    const { name } = bundle.manifest;
    const compareUnaligned = async () => {
      const features = await this.#parts.encoder.encodePair(bundle, frames, input);
      return { features, unaligned: await this.#parts.pool.run('difference', name, features) };
    };
    const [compared, evidence] = await allSettledOrThrow(
      step('encode', compareUnaligned),
      step('register', () => this.#parts.pool.run('examine', name, frames)),
    );
    return { evidence, ...compared };
  }

  /** Warps `after` to the view of `before` and compares the frames again. */
  async #align(
    { step, bundle, buffers }: Comparison,
    { before, after }: FramePair,
    features: FeaturePair,
    registration: Registration,
  ): Promise<AlignedPair> {
    const { name } = bundle.manifest;
    const frames = await step('register', async () => {
      const out = this.#frames.take(before.data.length, buffers);
      await this.#parts.pool.run('align', name, { before, after, homography: registration.homography, out });
      return { before, after: { ...after, width: before.width, height: before.height, data: out } };
    });
    const aligned = await step('encode', async () => {
      const pair = { before: features.before, after: await this.#parts.encoder.encodeFullFrame(bundle, frames.after) };
      return { features: pair, difference: await this.#parts.pool.run('difference', name, pair) };
    });
    return { frames, ...aligned, toSourceFrame: mapToSourceFrame(registration) };
  }

  #finishUnchanged(
    { bundle }: Comparison,
    { toSourceFrame }: AlignedPair,
    { prediction, maps: { before, after }, evidence }: LocatedRegions,
    viewpoint: Viewpoint,
    lost: Lost | null,
  ): Omit<PairOutput, 'timings'> {
    const sentence = bundle.manifest.unchanged_sentence;
    const finding = unchangedFinding(prediction, this.#catalogue.modelUsed(bundle), viewpoint, sentence, lost);
    const empty = finding.words.map(() => emptyLike(after));
    return {
      finding,
      heatmaps: { before, after: toSourceFrame.map(after), words: { before: empty, after: empty } },
      ...(evidence.length > 0 ? { evidence: () => ({ ...NO_EVENTS, regions: evidence }) } : {}),
    };
  }

  async #finishChanged(
    comparison: Comparison,
    pair: AlignedPair,
    { prediction, regions, maps, evidence: ofRegions, crops: named }: LocatedRegions,
    viewpoint: Viewpoint,
  ): Promise<Omit<PairOutput, 'timings'>> {
    const { bundle, input } = comparison;
    const { manifest } = bundle;
    const { difference, toSourceFrame } = pair;
    const { captioned, check, crops, description, people, notes, evidence } = await comparison.step('caption', () =>
      captionPair(this.#parts, comparison, pair, regions, named),
    );
    const words = await comparison.step('heatmap', async () =>
      toSourceFrame.words(wordHeatmaps(captioned, manifest.attention, maps.after)),
    );
    const { statements } = description;
    const described = changedFinding(
      prediction,
      captioned,
      regions,
      this.#catalogue.modelUsed(bundle),
      viewpoint,
      input.statements && crops.length > 0 ? statements : undefined,
      manifest.names && statements.flatMap(({ fact }) => fact ?? []),
    );
    const finding = { ...described, ...(check && { check }), ...(notes.length > 0 && { notes: [...notes] }) };
    const after = toSourceFrame.map(maps.after);
    return {
      finding: { ...finding, ...keepRegions(finding, toSourceFrame.region) },
      ...(input.statements && { seen: seenThings(pair, regions, people) }),
      heatmaps: { before: maps.before, after, words },
      ...(evidence && { evidence: () => ({ ...evidence(), regions: ofRegions }) }),
      ...(manifest.graphs.pair && {
        embed: embedder(crops, manifest.glance?.regions ?? 0, toSourceFrame, (shown) =>
          this.#parts.pool.run('embedPair', manifest.name, { ...difference, crops: shown }),
        ),
      }),
    };
  }

  /**
   * @param model name of a bundle; null = the default one
   * @returns undefined if the bundle has no graph `text`. @throws ScenedeltaError unknown-model, inference-failed
   */
  async embedTexts(texts: readonly string[], model: string | null): Promise<EmbeddedTexts | undefined> {
    const { manifest, sha256 } = this.#catalogue.get(model);
    if (manifest.search === undefined) return undefined;
    const vectors = await this.#parts.pool.run('embedTexts', manifest.name, texts);
    return { bundle: sha256, least: manifest.search.least_cosine, vectors };
  }

  models(): ModelDescription[] {
    return this.#catalogue.describe();
  }

  /**
   * @param model name of a bundle; null = the default one
   * @returns its measured operating points, if there is such a bundle
   */
  operatingPoints(model: string | null): OperatingPoints {
    return this.#catalogue.operatingPoints(model);
  }

  /** Waits for running inference, then ends the threads. */
  close(): Promise<void> {
    return this.#parts.pool.close();
  }
}
