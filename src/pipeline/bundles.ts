/**
 * Loader of the bundles in MODELS_DIR. The default bundle must be valid; another broken bundle is logged and left out.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleError } from '../model/bundle.js';
import { type Bundle, checkFiles, loadBundle, MANIFEST_FILE, readBundle } from '../model/manifest.js';
import { KINDS } from '../schemas/kinds.js';

interface Log {
  error(fields: { model: string; reason: string }, message: string): void;
}

/**
 * @returns the default bundle first, the others by name
 * @throws BundleError if the default bundle is missing or broken
 */
export async function loadBundles(modelsDir: string, defaultModel: string, logger: Log): Promise<Bundle[]> {
  const bundles = [await loadNamed(modelsDir, defaultModel)];
  for (const name of await bundleFolders(modelsDir)) {
    if (name === defaultModel) continue;
    try {
      bundles.push(await loadNamed(modelsDir, name));
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      logger.error({ model: name, reason: error.message }, 'bundle is broken and not served');
    }
  }
  return bundles;
}

/**
 * Reads the manifest of one bundle, and its files while the caller goes on.
 * @returns the bundle; `checking` rejects with BundleError if a file is missing or broken
 * @throws BundleError if the manifest is
 */
export async function readDefault(
  modelsDir: string,
  defaultModel: string,
): Promise<{ readonly bundle: Bundle; readonly checking: Promise<void> }> {
  const bundle = await loadNamed(modelsDir, defaultModel, readBundle);
  const checking = checkFiles(bundle);
  checking.catch(() => {});
  return { bundle, checking };
}

async function bundleFolders(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

async function loadNamed(modelsDir: string, name: string, load = loadBundle): Promise<Bundle> {
  const bundle = await load(join(modelsDir, name));
  const path = join(bundle.directory, MANIFEST_FILE);
  if (bundle.manifest.name !== name) {
    throw new BundleError(path, `/name is ${bundle.manifest.name}, expected ${name}, as its folder is called`);
  }
  const unknown = bundle.manifest.kinds.find((kind) => !(KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    throw new BundleError(path, `/kinds has ${unknown}, expected only ${KINDS.join(', ')}`);
  }
  return bundle;
}
