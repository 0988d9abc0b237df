/** Answers of one bundle about pairs of frames on disk, for `scenedelta tune`. */
import { access, constants } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import pLimit from 'p-limit';
import type { Config } from '../../config.js';
import type { Pair } from '../../evaluation/pairs.js';
import { type CaptionerFigures, evaluate } from '../../evaluation/report.js';
import { createLogger } from '../../logger.js';
import { Pipeline } from '../../pipeline/compare.js';
import type { Finding } from '../../schemas/comparison.js';
import { graphCacheHome, withBundles } from '../config-with.js';
import type { PairBytes } from '../evaluation/bundle-runner.js';
import type { PairFolder } from '../evaluation/frames.js';
import { startProgress } from '../progress.js';

export interface Asked {
  readonly camera: string | null;
  /** throws if the frames cannot be read */
  read(): Promise<PairBytes>;
}

/**
 * @param folder of the bundle, below a folder of bundles
 * @param onError called for a pair whose frames cannot be read or decoded
 * @returns the finding of each pair, in their order; null if its frames cannot be read or decoded
 * @throws ScenedeltaError 'unknown-model' if the bundle is broken
 */
export async function answersOf(config: Config, folder: string, pairs: readonly Asked[]): Promise<(Finding | null)[]> {
  if (pairs.length === 0) return [];
  const [modelsDir, defaultModel] = [dirname(folder), basename(folder)];
  const tuned = { ...config, modelsDir, defaultModel, dataDir: await graphCacheHome(config.dataDir) };
  const logger = createLogger({ level: 'silent', name: 'tune' });
  const pipeline = await withBundles(
    tuned,
    Pipeline.start({ config: tuned, logger, onlyDefault: true, warmUp: false }),
  );
  const progress = startProgress(pairs.length, 'pairs');
  try {
    const limit = pLimit(config.inferenceThreads || availableParallelism());
    return await limit.map(pairs, async ({ camera, read }) => {
      const finding = await read()
        .then(async (bytes) => (await pipeline.compare({ ...bytes, camera })).finding)
        .catch(() => null);
      progress.step();
      return finding;
    });
  } finally {
    progress.end();
    await pipeline.close();
  }
}

/** Figures of the bundle on labelled pairs, as `scenedelta evaluate` defines them. @throws ScenedeltaError, as above */
export async function figuresOf(config: Config, folder: string, checks: PairFolder): Promise<CaptionerFigures> {
  const asked = checks.pairs.map((pair: Pair): Asked => ({ camera: pair.scene, read: () => checks.read(pair) }));
  const findings = await answersOf(config, folder, asked);
  const known = checks.pairs.flatMap((pair, i) => (findings[i] == null ? [] : [{ pair, finding: findings[i] }]));
  const predictions = known.map(({ pair, finding: { verdict, confidence, kind, caption, regions } }) => ({
    ...{ id: pair.id, verdict, confidence, kind, caption, regions },
    ...{ peak_before: null, peak_after: null, timings_ms: {} },
  }));
  const pairs = known.map(({ pair }) => pair);
  return evaluate(pairs, { name: basename(folder), predictions }).captioner;
}

const AT_ONCE = 64;

/** @param paths absolute, or relative to `folder`. @returns those that can be read, as they are given */
export async function existingPaths(folder: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const limit = pLimit(AT_ONCE);
  const found = await limit.map([...new Set(paths)], (path) =>
    access(resolve(folder, path), constants.R_OK).then(
      () => [path],
      () => [],
    ),
  );
  return new Set(found.flat());
}
