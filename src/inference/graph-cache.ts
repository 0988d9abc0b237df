/**
 * Graphs as ONNX Runtime optimised them for this processor, kept in a folder, because optimising is most of what opening costs.
 * A kept graph computes the same to the bit (test/inference/graph-cache.test.ts). Whatever goes wrong with the folder costs
 * time and nothing else.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink, utimes } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import { type Graph, openGraph, type Provider, RUNTIME_VERSION } from '../model/session.js';

const FOLDER = 'graphs';
const SUFFIX = '.onnx';
/** Of bundles and processors that are not used any more. */
const FORGOTTEN_MS = 30 * 24 * 3_600_000;

/** @returns the folder in `dataDir`, or null where there is no `dataDir` (a command that only looks should not make one) */
export async function graphCacheIn(dataDir: string): Promise<string | null> {
  const folder = join(dataDir, FOLDER);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return null;
  }
  return folder;
}

/**
 * @param folder null = nothing is kept
 * @throws BundleError where ONNX Runtime refuses the bundle's file
 */
export async function openBundleGraph(
  bundle: Bundle,
  name: keyof BundleManifest['graphs'],
  provider: Provider,
  folder: string | null,
): Promise<Graph> {
  const { file } = bundle.manifest.graphs[name];
  const original = join(bundle.directory, file);
  // On a GPU much of the work happens when shapes are first seen, which no file keeps.
  if (folder === null || provider !== 'cpu') return openGraph(original, provider);
  const kept = join(folder, `${await keyOf(bundle.manifest.files[file] ?? '')}${SUFFIX}`);
  try {
    const now = new Date();
    await utimes(kept, now, now);
    // An error names the bundle's file: nobody can mend the copy.
    return { ...(await openGraph(kept, provider)), file: original };
  } catch {
    // not there yet, or damaged
  }
  const temporary = join(folder, `${randomUUID()}.tmp`);
  try {
    const graph = await openGraph(original, provider, temporary);
    await keep(temporary, kept);
    await forget(folder);
    return graph;
  } catch {
    await unlink(temporary).catch(() => {});
    return openGraph(original, provider);
  }
}

/** ONNX Runtime lays weights out as this processor's instructions want them. */
async function keyOf(graphSha256: string): Promise<string> {
  const information = await readFile('/proc/cpuinfo', 'utf8').catch(() => '');
  const instructions = /^(?:flags|Features)\s*:.*$/m.exec(information)?.[0];
  const made = [graphSha256, RUNTIME_VERSION, process.arch, cpus()[0]?.model, instructions];
  return createHash('sha256').update(JSON.stringify(made)).digest('hex');
}

/** Whole or not at all, whenever the power goes. */
async function keep(temporary: string, kept: string): Promise<void> {
  const file = await open(temporary, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, kept);
}

async function forget(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await stat(path)).mtimeMs > FORGOTTEN_MS) await unlink(path);
  }
}
