/** Start of a pipeline: reads the bundles and opens their graphs in the inference threads. */
import { graphCacheIn } from '../inference/graph-folder.js';
import { InferencePool, type PoolOptions } from '../inference/pool.js';
import { type BootedThread, bootThread, dismiss } from '../inference/thread-handle.js';
import { BundleError } from '../model/bundle.js';
import type { Bundle } from '../model/manifest.js';
import type { Config } from '../process/config.js';
import { loadBundles, readDefault } from './bundles.js';

/**
 * @returns the bundles whose graphs can be served, and the threads that run them
 * @throws BundleError if the default bundle is missing or broken; Error if STRICT_DEVICE cannot be met
 */
export async function startPool(
  options: PipelineOptions,
): Promise<{ readonly served: Bundle[]; readonly pool: InferencePool }> {
  const { config, logger, threadScript, onGpuFailure, warmUp = true, evidenceHere = false } = options;
  const booted = options.booted ?? bootThread(1, threadScript);
  const { bundles, checking } = await bundlesOf(options).catch((error) => {
    dismiss(booted);
    throw error;
  });
  const starting = InferencePool.start({
    ...{ bundles, booted },
    device: config.device,
    strictDevice: config.strictDevice,
    threads: config.inferenceThreads,
    batchSize: config.batchSize,
    gpuGraphs: config.gpuGraphs,
    graphCache: await graphCacheIn(config.dataDir),
    warmUp,
    evidenceHere,
    logger,
    ...(threadScript === undefined ? {} : { script: threadScript }),
    ...(onGpuFailure === undefined ? {} : { onGpuFailure }),
  });
  const [checked, started] = await Promise.allSettled([checking, starting]);
  // The fault of a file explains what ONNX Runtime reports of it.
  if (checked.status === 'rejected') {
    if (started.status === 'fulfilled') await started.value.close();
    throw checked.reason;
  }
  const pool = await starting;
  if (pool.fallback !== null) {
    const fields = { device: config.device, provider: pool.provider, reason: pool.fallback };
    logger.warn(fields, 'serving on the CPU');
  }
  for (const [name, reason] of Object.entries(pool.refused)) {
    if (name === config.defaultModel) {
      await pool.close();
      throw new BundleError(name, reason);
    }
    logger.error({ model: name, reason }, 'bundle is broken and not served');
  }
  const served = bundles.filter(({ manifest }) => !(manifest.name in pool.refused));
  return { served, pool };
}

/** The files of a single bundle are checked while the threads open them. Of several, broken ones are left out first. */
async function bundlesOf({
  config: { modelsDir, defaultModel },
  logger,
  onlyDefault = false,
}: PipelineOptions): Promise<{ readonly bundles: Bundle[]; readonly checking?: Promise<void> }> {
  if (!onlyDefault) return { bundles: await loadBundles(modelsDir, defaultModel, logger) };
  const { bundle, checking } = await readDefault(modelsDir, defaultModel);
  return { bundles: [bundle], checking };
}

export interface PipelineOptions {
  readonly config: Config;
  readonly logger: PoolOptions['logger'];
  /** loads no other bundle than the default one: a command that compares one pair needs no more */
  readonly onlyDefault?: boolean;
  /** false: starts sooner, and the first comparisons take longer; absent = true */
  readonly warmUp?: boolean;
  /** as PoolOptions */
  readonly evidenceHere?: boolean;
  /** compiled entry of the inference threads; tests may give another */
  readonly threadScript?: URL;
  /** the first thread, if it has been started already; absent = it is started here */
  readonly booted?: BootedThread;
  /** is called per full frame, with whether its features were cached */
  readonly onCacheLookup?: (hit: boolean) => void;
  /** as PoolOptions */
  readonly onGpuFailure?: PoolOptions['onGpuFailure'];
}
