/** Runs a bundle and, on the same bytes, the detectors that need no training, on one pair after the other. */
import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { SIDES, type Side } from '../../src/base/images.js';
import { withBundles } from '../../src/cli/config-with.js';
import { type DecodedFrame, decodeFrame } from '../../src/frames/decode.js';
import { graphCacheIn } from '../../src/inference/graph-folder.js';
import { InferencePool } from '../../src/inference/pool.js';
import { COARSE_STRIDE } from '../../src/model/bundle.js';
import type { Features } from '../../src/model/graph-io.js';
import { loadBundle } from '../../src/model/manifest.js';
import { fullFrame } from '../../src/model/preprocess.js';
import { Pipeline } from '../../src/pipeline/compare.js';
import type { PairRows } from '../../src/pipeline/judge-evidence.js';
import { cacheFolder } from '../../src/process/cache-folder.js';
import type { Config } from '../../src/process/config.js';
import { createLogger } from '../../src/process/logger.js';
import type { Finding } from '../../src/schemas/comparison.js';
import { featureMatching, peakOf, pixelSubtraction, type Signal } from '../figures/baselines.js';
import type { Prediction } from '../figures/predictions.js';
import type { Vectors } from './find-pairs.js';

/** @returns the folder of the bundle: MODELS_DIR, or research/models beside it if only that one has the bundle */
export async function folderOf(bundle: string, modelsDir: string): Promise<string> {
  const research = join(modelsDir, '../research/models');
  const has = (folder: string) =>
    access(join(folder, bundle)).then(
      () => true,
      () => false,
    );
  return !(await has(modelsDir)) && (await has(research)) ? research : modelsDir;
}

/** Encoded bytes of both frames. */
export type PairBytes = Readonly<Record<Side, Uint8Array>>;

interface PairResult {
  readonly prediction: Omit<Prediction, 'id'>;
  readonly finding: Finding;
  /** by the name of the detector */
  readonly signals: Readonly<Record<string, Signal>>;
  /** of the pipeline's output */
  readonly embed?: () => Promise<Float32Array>;
  /** absent without a change, and of a bundle that names nothing */
  readonly evidence?: PairRows;
}

export interface BundleRunner {
  /** the number of pairs worth running at a time */
  readonly concurrency: number;
  /** @throws ScenedeltaError of the pipeline; `field` names the frame */
  run(bytes: PairBytes): Promise<PairResult>;
  /** @param pairs search vectors, one per pair. @returns null if the bundle has no search vectors */
  vectorsOf(pairs: readonly (Float32Array | null)[]): Vectors | null;
  close(): Promise<void>;
}

const MATCHING_RADII = [0, 1, 2] as const;
export const decode = (bytes: Uint8Array, side: Side, pixelLimit: number): Promise<DecodedFrame> =>
  decodeFrame(bytes, { field: side, pixelLimit, allocate: (size) => new Uint8Array(new SharedArrayBuffer(size)) });

/** Score and peak of the mean absolute pixel difference, the only detector that needs no bundle. */
export async function pixelSignals(bytes: PairBytes, pixelLimit: number): Promise<Record<string, Signal>> {
  const [before, after] = await Promise.all(SIDES.map((side) => decode(bytes[side], side, pixelLimit)));
  return { pixels: pixelSubtraction(before as DecodedFrame, after as DecodedFrame) };
}

/** @throws ScenedeltaError 'unknown-model' if the bundle is missing or broken */
export async function createBundleRunner(config: Config): Promise<BundleRunner> {
  const logger = createLogger({ level: 'silent', name: 'evaluate' });
  const name = config.defaultModel;
  const bundle = await withBundles(config, loadBundle(join(config.modelsDir, name)));
  const dataDir = await cacheFolder(config.dataDir);
  const options = { config: { ...config, dataDir }, logger, onlyDefault: true, warmUp: false };
  const pipeline = await withBundles(config, Pipeline.start(options));
  // Separate threads for the features, because the pipeline does not hand its features out.
  const pool = await InferencePool.start({
    bundles: [bundle],
    device: config.device,
    strictDevice: config.strictDevice,
    threads: config.inferenceThreads,
    graphCache: await graphCacheIn(dataDir),
    warmUp: false,
    batchSize: config.batchSize,
    gpuGraphs: config.gpuGraphs,
    logger,
  });
  const { width, height } = bundle.manifest.input;

  async function match(frames: Readonly<Record<Side, DecodedFrame>>): Promise<Record<string, Signal>> {
    const encoded = await Promise.all(
      SIDES.map((side) => {
        const boxes = [fullFrame(frames[side])];
        return pool.run('encode', name, { frame: frames[side], boxes, width, height });
      }),
    );
    const [before, after] = encoded.map(([features]) => coarseMap(features as Features, width, height));
    if (before === undefined || after === undefined) return {};
    return Object.fromEntries(
      MATCHING_RADII.map((radius) => [`match r=${radius}`, featureMatching(before, after, radius)]),
    );
  }

  return {
    concurrency: config.inferenceThreads || availableParallelism(),
    async run(bytes) {
      const started = performance.now();
      const { finding, heatmaps, timings, embed, evidence } = await pipeline.compare({ ...bytes, model: name });
      const total = performance.now() - started;
      const [before, after] = await Promise.all(SIDES.map((side) => decode(bytes[side], side, config.pixelLimit)));
      const frames = { before: before as DecodedFrame, after: after as DecodedFrame };
      const { verdict, confidence, kind, caption, regions } = finding;
      return {
        finding,
        prediction: {
          verdict,
          confidence,
          kind,
          caption,
          regions,
          peak_before: heatmaps === null ? null : peakOf(heatmaps.before),
          peak_after: heatmaps === null ? null : peakOf(heatmaps.after),
          timings_ms: { ...timings, total },
        },
        signals: { pixels: pixelSubtraction(frames.before, frames.after), ...(await match(frames)) },
        ...(embed === undefined ? {} : { embed }),
        ...(evidence === undefined ? {} : { evidence: evidence() }),
      };
    },
    vectorsOf(pairs) {
      const { search } = bundle.manifest;
      if (search === undefined) return null;
      const embed = async (texts: readonly string[]) => (await pipeline.embedTexts(texts, name))?.vectors ?? [];
      return { bundle: bundle.sha256, pairs, embed, least: search.least_cosine };
    },
    async close() {
      await pipeline.close();
      await pool.close();
    },
  };
}

function coarseMap({ coarse }: Features, inputWidth: number, inputHeight: number) {
  const [width, height] = [inputWidth / COARSE_STRIDE, inputHeight / COARSE_STRIDE];
  return { channels: coarse.length / (width * height), width, height, data: coarse };
}
