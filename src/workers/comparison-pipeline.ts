/** From two encoded frames to what is said of them. `compare` reads top to bottom; the steps are functions of their own. */
import { createHash } from 'node:crypto';
import type { OperatingPoint } from '../cameras/dial.js';
import type { Finding, ModelUsed, TimingsMs } from '../comparison.js';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import type { Heatmap, Side } from '../images.js';
import type { Logger } from '../logger.js';
import { judge, kindOf } from '../model/calibration.js';
import type { CaptionOutput, FeaturePair, Features, GlanceFeatures } from '../model/captioner.js';
import { wordHeatmap } from '../model/heatmap.js';
import { type Bundle, BundleError } from '../model/manifest.js';
import { wholeFrame } from '../model/preprocess.js';
import { chooseGlances, findRegions, type MapRegion, toPixels } from '../model/regions.js';
import { type Sentence, toSentence } from '../model/tokenizer.js';
import { isFunctionWord } from '../model/wording.js';
import type { HeatmapData } from '../stores/heatmap-data.js';
import type { ModelDescription } from '../stores/workers.js';
import { loadBundles } from './bundles.js';
import { decodeFrame, type Frame } from './decode.js';
import { FeatureCache, featureKey } from './feature-cache.js';
import { changedFinding, identicalFinding, sentenceOfChange, unchangedFinding } from './finding.js';
import { FrameMemory } from './frame-memory.js';
import { graphCacheIn } from './graph-cache.js';
import { InferencePool } from './inference-pool.js';

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
  /** null where the frames were identical and no model was asked */
  readonly heatmaps: HeatmapData | null;
  /** decode, encode (features and difference), caption (glances and words), heatmap; only the steps that were needed */
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
  operatingPoints(model: string | null): readonly OperatingPoint[];
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

      const difference = await step('encode', async () =>
        pool.run('difference', bundle.manifest.name, await encodePair(bundle, frames, input)),
      );
      const belief = judge(difference, bundle.manifest, input.threshold ?? undefined);
      const maps = { before: difference.before, after: difference.after };
      if (!belief.changed) {
        const finding = unchangedFinding(belief, modelUsed(bundle));
        return {
          finding,
          heatmaps: { ...maps, words: finding.words.map(() => emptyLike(maps.after)) },
          timings,
        };
      }

      const regions = findRegions(maps, bundle.manifest.regions);
      const caption = await step('caption', async () => {
        const glances = await lookCloser(bundle, frames, regions);
        const output = await pool.run('caption', bundle.manifest.name, {
          memory: difference.memory,
          glances,
        });
        return { ...output, crops: glances.map((glance) => glance.crop) };
      });
      // The glances saw the changed places from close by, and which of them show the same thing.
      const informed =
        caption.kindLogits === null
          ? belief
          : { ...belief, kind: kindOf(caption.kindLogits, bundle.manifest.kinds) };
      const written = toSentence(caption.ids, caption.logProbabilities, caption.length, bundle.manifest);
      const { sentence, replaced } = sentenceOfChange(written, informed, regions);
      const words = await step('heatmap', async () =>
        replaced
          ? sentence.words.map(() => emptyLike(maps.after))
          : wordHeatmaps(bundle, sentence, caption, maps.after),
      );
      const finding = changedFinding(informed, sentence, regions, modelUsed(bundle));
      return { finding, heatmaps: { ...maps, words }, timings };
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
    const allocate = (bytes: number) => {
      const pixels = memory.take(bytes);
      held.push(pixels);
      return pixels;
    };
    return ofBoth((side) => decodeFrame(input[side], { side, pixelLimit: config.pixelLimit, allocate }));
  }

  function encodePair(bundle: Bundle, frames: Record<Side, Frame>, input: PairInput): Promise<FeaturePair> {
    const { width, height } = bundle.manifest.input;
    return ofBoth(async (side) => {
      const sha256 = (side === 'before' ? input.beforeKey : input.afterKey) ?? hash(input[side]);
      const key = featureKey(sha256, bundle.sha256);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const frame = frames[side];
      const whole = { frame, boxes: [wholeFrame(frame)], width, height };
      const [features] = (await pool.run('encode', bundle.manifest.name, whole)) as [Features];
      cache.set(key, features);
      return features;
    });
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

/** Does something for both frames beside each other, and returns only when both have ended, also where one fails. */
async function ofBoth<T>(work: (side: Side) => Promise<T>): Promise<Record<Side, T>> {
  const [before, after] = await Promise.allSettled([work('before'), work('after')]);
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  return { before: before.value, after: after.value };
}

/** Both frames are squashed to one input, so a slightly other aspect is harmless and a really other one is another view. */
const ASPECT_TOLERANCE = 0.02;

function refuseOtherShape({ before, after }: Record<Side, Frame>): void {
  const ratio = before.width / before.height / (after.width / after.height);
  if (Math.abs(ratio - 1) <= ASPECT_TOLERANCE) return;
  throw new ScenedeltaError(
    'frames-differ-in-shape',
    `before has ${before.sourceWidth}x${before.sourceHeight} px and after ${after.sourceWidth}x${after.sourceHeight} px, expected the same aspect ratio (within ${ASPECT_TOLERANCE * 100} %)`,
    { field: 'after' },
  );
}

const haveSamePixels = ({ before, after }: Record<Side, Frame>): boolean =>
  before.width === after.width &&
  before.height === after.height &&
  Buffer.compare(before.data, after.data) === 0;

/** One map a word, on the grid of the change maps. */
function wordHeatmaps(
  { manifest }: Bundle,
  sentence: Sentence,
  caption: CaptionOutput & { readonly crops: readonly GlanceFeatures['crop'][] },
  grid: Heatmap,
): Heatmap[] {
  return sentence.words.map(({ text }, t) => {
    const weights = caption.attention[t];
    if (weights === undefined || isFunctionWord(text)) return emptyLike(grid);
    const { grid: memoryGrid, glance: glanceGrid } = manifest.attention;
    return wordHeatmap({ weights, memoryGrid, glanceGrid, crops: caption.crops }, grid.width, grid.height);
  });
}

const emptyLike = ({ width, height }: Heatmap): Heatmap => ({
  width,
  height,
  data: new Float32Array(width * height),
});

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Times the steps, and starts none after the caller has given up. */
function stopwatch(signal: AbortSignal | undefined) {
  const timings: Partial<TimingsMs> = {};
  const step = async <T>(name: keyof TimingsMs, work: () => Promise<T>): Promise<T> => {
    if (signal?.aborted) throw new ScenedeltaError('cancelled', `cancelled before ${name}`);
    const start = performance.now();
    try {
      return await work();
    } finally {
      timings[name] = performance.now() - start;
    }
  };
  return { step, timings };
}
