/**
 * Cache on disk of graphs that ONNX Runtime has optimised for this processor, because optimising takes most of the time
 * of opening a graph. A cached graph computes the same to the bit (test/inference/graph-cache.test.ts). A failure of
 * the folder costs time and nothing else.
 */
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.js';
import { checkGraph, statedGraph } from '../model/contract.js';
import type { TensorSpec } from '../model/graphs-schema.js';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import { type Graph, openGraph, type Provider, RUNTIME_VERSION } from '../model/session.js';
import { type FixedSize, fixedSizesOf, sizesOf, withFixedSizes } from './fixed-sizes.js';
import { hideInputShapes } from './hidden-shapes.js';
import { perShape } from './lazy-graph.js';

const SUFFIX = '.onnx';
/** Age from which an unused graph is deleted. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/**
 * Opens a graph of a bundle, from the cache if it is there.
 * @param folder null = no cache
 * @param opener opens a file; tests give another
 * @returns the graph; on a GPU it opens a session for each new input shape
 * @throws BundleError if ONNX Runtime refuses the bundle's file
 */
export async function openBundleGraph(
  bundle: Bundle,
  name: keyof BundleManifest['graphs'],
  provider: Provider,
  folder: string | null,
  opener: typeof openGraph = openGraph,
): Promise<Graph> {
  const { file, inputs } = statedGraph(bundle.manifest, name);
  const original = join(bundle.directory, file);
  const openFixed = async (sizes: readonly FixedSize[], optimisedPath?: string) => {
    // ONNX Runtime says what is wrong with a file that cannot be read.
    const read =
      sizes.length === 0
        ? null
        : await readFile(original)
            .then((model) => withFixedSizes(model, sizes))
            .catch(() => null);
    return opener(original, provider, {
      ...(read === null ? {} : { bytes: read }),
      ...(optimisedPath === undefined ? {} : { optimisedPath }),
    });
  };
  // On a GPU pairs share runs, and most of the work is done at the first run of each shape, which no file keeps.
  if (provider !== 'cpu') {
    return perShape(await opener(original, provider), (feeds) => openFixed(sizesOf(inputs, feeds)));
  }
  const fixed = fixedSizesOf(bundle.manifest, name);
  const openOriginal = (optimisedPath?: string) => openFixed(fixed, optimisedPath);
  if (folder === null) return openOriginal();
  const cached = join(folder, `${await keyOf(bundle.manifest.files[file] ?? '', fixed, inputs)}${SUFFIX}`);
  try {
    const now = new Date(systemClock());
    await utimes(cached, now, now);
    // Errors name the file of the bundle, because the copy cannot be repaired by hand. A copy states no shapes of its
    // inputs, and is kept only if they were those of the manifest.
    return { ...(await opener(cached, provider, { isOptimised: true })), file: original, inputs };
  } catch {
    // missing or damaged: it is written again
  }
  const temporary = join(folder, `${randomUUID()}.tmp`);
  try {
    const graph = await openOriginal(temporary);
    checkGraph(name, graph, bundle.manifest);
    const copy = await readFile(temporary);
    hideInputShapes(copy);
    await writeFile(temporary, copy);
    await moveDurably(temporary, cached);
    await deleteUnused(folder);
    return graph;
  } catch {
    await unlink(temporary).catch(() => {});
    return openOriginal();
  }
}

/** The key covers the processor, because ONNX Runtime arranges weights for its instruction set. */
async function keyOf(graphSha256: string, fixed: readonly FixedSize[], stated: readonly TensorSpec[]): Promise<string> {
  const information = await readFile('/proc/cpuinfo', 'utf8').catch(() => '');
  const instructions = /^(?:flags|Features)\s*:.*$/m.exec(information)?.[0];
  const parts = [graphSha256, fixed, stated, RUNTIME_VERSION, process.arch, cpus()[0]?.model, instructions];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Renames a file after its bytes are on disk, so that a power failure leaves a complete file or none. */
async function moveDurably(temporary: string, target: string): Promise<void> {
  const file = await open(temporary, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, target);
}

async function deleteUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (systemClock() - (await stat(path)).mtimeMs > UNUSED_MS) await unlink(path);
  }
}
