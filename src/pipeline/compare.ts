/** From two encoded frames to what is said of them. `compare` reads top to bottom; the steps are functions of their own. */
import { createHash } from 'node:crypto';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { decodeFrame, type Frame } from '../frames/decode.js';
import { haveSamePixels, ofBoth, refuseOtherShape, together } from '../frames/pair.js';
import { FrameMemory } from '../frames/pixel-buffers.js';
import type { HeatmapData } from '../heatmaps/data.js';
import type { Side } from '../images.js';
import { FeatureCache, featureKey } from '../inference/feature-cache.js';
import { graphCacheIn } from '../inference/graph-cache.js';
import { InferencePool } from '../inference/pool.js';
import type { Logger } from '../logger.js';
import { BundleError } from '../model/bundle.js';
import { mostProbableKind } from '../model/calibration.js';
import type { CaptionOutput, FeaturePair, Features, GlanceFeatures } from '../model/captioner.js';
import { wordsThatAgree } from '../model/clauses.js';
import type { Bundle } from '../model/manifest.js';
import { wholeFrame } from '../model/preprocess.js';
import { chooseGlances, findRegions, type MapRegion, toPixels } from '../model/regions.js';
import { toSentence, withWords } from '../model/tokenizer.js';
import type { Finding, ModelUsed, TimingsMs } from '../schemas/comparison.js';
import type { ModelDescription } from '../schemas/model-description.js';
import type { Registration } from '../viewpoint/register.js';
import { loadBundles } from './bundles.js';
import {
  changedFinding,
  identicalFinding,
  sentenceOfChange,
  tamperedFinding,
  unchangedFinding,
  viewpointOf,
} from './finding.js';
import { fuse, needsAlignment } from './nuisance-fusion.js';
import { stopwatch } from './stopwatch.js';
import { fuseTampers } from './tamper-fusion.js';
import { emptyLike, ownPixels, wordHeatmaps } from './word-heatmaps.js';

export interface PairInput {
  /** encoded bytes: JPEG, PNG, WebP, AVIF, TIFF or GIF */
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** sha256 of the bytes in hexadecimal, where the caller knows it already */
  readonly beforeKey?: string;
  readonly afterKey?: string;
  /** null or absent = the default bundle */
  readonly model?: string | null;
  /** probability from which a change is said, 0..1; null or absent = the bundle's own */
  readonly threshold?: number | null;
  /** looked at between steps; a run that has begun ends */
  readonly signal?: AbortSignal;
}

export interface PairOutput {
  readonly finding: Finding;
  /** null where no model was asked: identical frames, or a tampered camera */
  readonly heatmaps: HeatmapData | null;
  /** decode, register (evidence and aligning, beside encode), encode (features and difference), caption (glances and words), heatmap; only the steps that were needed */
  readonly timings: Partial<TimingsMs>;
}

export interface Pipeline {
  /**
   * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small (field before or after),
   *   frames-differ-in-shape, unknown-model, cancelled, inference-failed
   */
  compare(input: PairInput): Promise<PairOutput>;
  models(): ModelDescription[];
  /** What thresholds of this bundle (null = the default one) cost, as measured; empty where there is no such bundle. */
  operatingPoints(model: string | null): Bundle['manifest']['calibration']['operating_points'];
  /** Waits for running inference, then ends the threads. */
  close(): Promise<void>;
}

type PipelineConfig = Pick<
  Config,
  | 'dataDir'
  | 'modelsDir'
  | 'defaultModel'
  | 'device'
  | 'strictDevice'
  | 'inferenceThreads'
  | 'batchSize'
  | 'featureCacheMb'
  | 'pixelLimit'
>;

/**
 * Loads the bundles, starts the inference threads and warms them up.
 * @param threadScript another thread entry, for tests
 * @throws BundleError where the default bundle is missing or broken; Error where STRICT_DEVICE cannot be met
 */
export async function createPipeline(options: {
  config: PipelineConfig;
  logger: Logger;
  threadScript?: URL;
  /** told of every whole frame whether its features were kept */
  onCacheLookup?: (hit: boolean) => void;
}): Promise<Pipeline> {
  const { config, logger, threadScript } = options;
  const loaded = await loadBundles(config.modelsDir, config.defaultModel, logger);
  const pool = await InferencePool.start({
    bundles: loaded,
    device: config.device,
    strictDevice: config.strictDevice,
    threads: config.inferenceThreads,
    batchSize: config.batchSize,
    graphCache: await graphCacheIn(config.dataDir),
    logger,
    ...(threadScript === undefined ? {} : { script: threadScript }),
  });
  if (pool.fallback !== null) {
    const log = config.device === 'auto' ? logger.info.bind(logger) : logger.warn.bind(logger);
    log({ device: config.device, provider: pool.provider, reason: pool.fallback }, 'serving on the CPU');
  }
  const bundles = new Map(loaded.map((bundle) => [bundle.manifest.name, bundle]));
  for (const [name, reason] of Object.entries(pool.refused)) {
    if (name === config.defaultModel) {
      await pool.close();
      throw new BundleError(name, reason);
    }
    logger.error({ model: name, reason }, 'bundle is broken and not served');
    bundles.delete(name);
  }
  const cache = new FeatureCache(config.featureCacheMb * 1024 * 1024, options.onCacheLookup);
  const memory = new FrameMemory();

  async function compare(input: PairInput): Promise<PairOutput> {
    const bundle = bundleNamed(input.model ?? config.defaultModel);
    const { step, timings } = stopwatch(input.signal);
    const held: Uint8Array[] = [];
    try {
      const frames = await step('decode', () => decodePair(input, held));
      refuseOtherShape(frames);
      if (haveSamePixels(frames)) return { finding: identicalFinding(), heatmaps: null, timings };

      // Evidence is gathered beside the graphs, which look at the frames as they are: only a camera that moved costs more.
      const [asTheyAre, evidence] = await together(
        step('encode', () => encodeAndCompare(bundle, frames, input)),
        step('register', () => pool.run('examine', bundle.manifest.name, frames)),
      );
      const viewpoint = viewpointOf(evidence, frames.after.sourceWidth);
      const tampers = fuseTampers(bundle.manifest, evidence, asTheyAre.features);
      if (tampers.length > 0)
        return { finding: tamperedFinding(tampers, viewpoint), heatmaps: null, timings };

      const aligned = needsAlignment(evidence, bundle.manifest) ? evidence.registration : null;
      const views =
        aligned === null ? frames : await step('register', () => align(bundle, frames, aligned, held));
      const difference =
        aligned === null
          ? asTheyAre.difference
          : await step('encode', async () => {
              const after = await encodeWhole(bundle, views.after);
              const pair = { before: asTheyAre.features.before, after };
              return pool.run('difference', bundle.manifest.name, pair);
            });
      const belief = fuse(difference, evidence, bundle.manifest, input.threshold ?? undefined);
      // Both maps lie on before's view until they are shown.
      const maps = { before: difference.before, after: difference.after };
      const own = ownPixels(aligned);
      const shown = { before: maps.before, after: own.map(maps.after) };
      if (!belief.changed) {
        const finding = unchangedFinding(
          belief,
          modelUsed(bundle),
          viewpoint,
          bundle.manifest.unchanged_sentence,
        );
        const none = finding.words.map(() => emptyLike(maps.after));
        return { finding, heatmaps: { ...shown, words: { before: none, after: none } }, timings };
      }

      const regions = findRegions(maps, bundle.manifest.regions);
      const caption = await step('caption', async () => {
        const glances = await lookCloser(bundle, views, regions);
        const output = await pool.run('caption', bundle.manifest.name, {
          memory: difference.memory,
          kindLogits: difference.kindLogits,
          glances,
        });
        return { ...output, crops: glances.map((glance) => glance.crop) };
      });
      const informed = {
        ...belief,
        kind: mostProbableKind(caption.kindLogits ?? difference.kindLogits, bundle.manifest.kinds),
      };
      const decoded = toSentence(caption.ids, caption.logProbabilities, caption.length, bundle.manifest);
      const kept = wordsThatAgree(
        decoded.words.map(({ text }) => text),
        informed.kind.name,
      );
      const { sentence, replaced } = sentenceOfChange(withWords(decoded, kept), informed, regions);
      const words = await step('heatmap', async () =>
        own.words(
          replaced
            ? sentence.words.map(() => emptyLike(maps.after))
            : wordHeatmaps(bundle, sentence, attentionOf(caption, kept), maps.after),
        ),
      );
      const found = own.regions(regions);
      const finding = changedFinding(informed, sentence, found, modelUsed(bundle), viewpoint);
      return { finding, heatmaps: { ...shown, words }, timings };
    } finally {
      for (const pixels of held) memory.give(pixels);
    }
  }

  function bundleNamed(name: string): Bundle {
    const bundle = bundles.get(name);
    if (bundle !== undefined) return bundle;
    const known = [...bundles.keys()].join(', ');
    throw new ScenedeltaError(
      'unknown-model',
      `there is no model ${JSON.stringify(name)}, expected one of ${known}`,
      {
        field: 'model',
      },
    );
  }

  /** @param held receives the frames' memory, to be given back when nobody reads them any more */
  function decodePair(input: PairInput, held: Uint8Array[]): Promise<Record<Side, Frame>> {
    const allocate = (bytes: number) => hold(bytes, held);
    return ofBoth((side) => decodeFrame(input[side], { side, pixelLimit: config.pixelLimit, allocate }));
  }

  function hold(bytes: number, held: Uint8Array[]): Uint8Array {
    const pixels = memory.take(bytes);
    held.push(pixels);
    return pixels;
  }

  /** The frames with `after` as before's camera would have seen it. */
  async function align(
    bundle: Bundle,
    { before, after }: Record<Side, Frame>,
    { homography }: Registration,
    held: Uint8Array[],
  ): Promise<Record<Side, Frame>> {
    const out = hold(before.data.length, held);
    await pool.run('align', bundle.manifest.name, { before, after, homography, out });
    return { before, after: { ...after, width: before.width, height: before.height, data: out } };
  }

  async function encodeAndCompare(bundle: Bundle, frames: Record<Side, Frame>, input: PairInput) {
    const features = await encodePair(bundle, frames, input);
    return { features, difference: await pool.run('difference', bundle.manifest.name, features) };
  }

  function encodePair(bundle: Bundle, frames: Record<Side, Frame>, input: PairInput): Promise<FeaturePair> {
    return ofBoth(async (side) => {
      const sha256 = (side === 'before' ? input.beforeKey : input.afterKey) ?? hash(input[side]);
      const key = featureKey(sha256, bundle.sha256);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const features = await encodeWhole(bundle, frames[side]);
      cache.set(key, features);
      return features;
    });
  }

  async function encodeWhole({ manifest }: Bundle, frame: Frame): Promise<Features> {
    const { width, height } = manifest.input;
    const whole = { frame, boxes: [wholeFrame(frame)], width, height };
    const [features] = (await pool.run('encode', manifest.name, whole)) as [Features];
    return features;
  }

  /** The changed places in both frames, in as much detail as the frames have. */
  async function lookCloser(
    bundle: Bundle,
    frames: Record<Side, Frame>,
    regions: readonly MapRegion[],
  ): Promise<GlanceFeatures[]> {
    const rule = bundle.manifest.glance;
    if (rule === null || regions.length === 0) return [];
    const glances = chooseGlances(regions, frames.before, rule);
    const { before, after } = await ofBoth((side) => {
      const boxes = glances.map((glance) => toPixels(glance.crop, frames[side]));
      const crops = { frame: frames[side], boxes, width: rule.size, height: rule.size };
      return pool.run('encode', bundle.manifest.name, crops);
    });
    return glances.map((glance, i) => ({
      ...glance,
      before: before[i] as Features,
      after: after[i] as Features,
    }));
  }

  const modelUsed = ({ manifest, sha256 }: Bundle): ModelUsed => ({
    name: manifest.name,
    version: manifest.version,
    sha256,
    provider: pool.provider,
  });

  return {
    compare,
    models: () =>
      [...bundles.values()].map((bundle) => ({
        ...modelUsed(bundle),
        architecture: bundle.manifest.architecture,
        licence: bundle.manifest.licence,
        default: bundle.manifest.name === config.defaultModel,
        metrics: bundle.manifest.metrics,
      })),
    operatingPoints: (model) =>
      bundles.get(model ?? config.defaultModel)?.manifest.calibration.operating_points ?? [],
    close: () => pool.close(),
  };
}

/** Of the words that stayed in the sentence. */
const attentionOf = <T extends CaptionOutput>(caption: T, kept: readonly number[]): T => ({
  ...caption,
  attention: kept.map((word) => caption.attention[word] as Float32Array),
});

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
