/** The bundles of MODELS_DIR. The default one must be whole; another broken one is reported and left out. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleError } from '../model/bundle.js';
import { type Bundle, loadBundle, MANIFEST_FILE } from '../model/manifest.js';
import { KINDS } from '../schemas/comparison.js';

/**
 * @returns the default bundle first
 * @throws BundleError where the default bundle is missing or broken
 */
export async function loadBundles(
  modelsDir: string,
  defaultModel: string,
  logger: { error(what: { model: string; reason: string }, message: string): void },
): Promise<Bundle[]> {
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

async function bundleFolders(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

async function loadNamed(modelsDir: string, name: string): Promise<Bundle> {
  const bundle = await loadBundle(join(modelsDir, name));
  const path = join(bundle.directory, MANIFEST_FILE);
  if (bundle.manifest.name !== name) {
    throw new BundleError(
      path,
      `/name is ${bundle.manifest.name}, expected ${name}, as its folder is called`,
    );
  }
  const unknown = bundle.manifest.kinds.find((kind) => !(KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    throw new BundleError(path, `/kinds has ${unknown}, expected only ${KINDS.join(', ')}`);
  }
  return bundle;
}
