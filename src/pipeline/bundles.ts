/**
 * Loader of the bundles in MODELS_DIR. The default bundle must be valid; another broken bundle is logged and left out.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleError } from '../model/bundle.js';
import { type Bundle, checkFiles, loadBundle, MANIFEST_FILE, readBundle } from '../model/manifest.js';
import { KINDS } from '../schemas/comparison.js';

/** Bundles up to version 0.7 kept `align_from` in this file instead of their manifest. */
const LEGACY_RULE_FILE = 'verdict.json';

interface Log {
  warn(fields: { model: string }, message: string): void;
  error(fields: { model: string; reason: string }, message: string): void;
}

/**
 * @returns the default bundle first, the others by name
 * @throws BundleError if the default bundle is missing or broken
 */
export async function loadBundles(modelsDir: string, defaultModel: string, logger: Log): Promise<Bundle[]> {
  const bundles = [await loadNamed(modelsDir, defaultModel, logger)];
  for (const name of await bundleFolders(modelsDir)) {
    if (name === defaultModel) continue;
    try {
      bundles.push(await loadNamed(modelsDir, name, logger));
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
  logger: Log,
): Promise<{ readonly bundle: Bundle; readonly checking: Promise<void> }> {
  const bundle = await loadNamed(modelsDir, defaultModel, logger, readBundle);
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

async function loadNamed(modelsDir: string, name: string, logger: Log, load = loadBundle): Promise<Bundle> {
  const bundle = await load(join(modelsDir, name));
  const path = join(bundle.directory, MANIFEST_FILE);
  if (bundle.manifest.name !== name) {
    throw new BundleError(path, `/name is ${bundle.manifest.name}, expected ${name}, as its folder is called`);
  }
  const unknown = bundle.manifest.kinds.find((kind) => !(KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    throw new BundleError(path, `/kinds has ${unknown}, expected only ${KINDS.join(', ')}`);
  }
  return bundle.manifest.align_from === undefined ? withLegacyAlignment(bundle, logger) : bundle;
}

/** The bundle with `align_from` of a legacy rule file, if there is such a file and it was written for these graphs. */
async function withLegacyAlignment(bundle: Bundle, logger: Log): Promise<Bundle> {
  const model = bundle.manifest.name;
  let rule: { readonly bundle_sha256?: unknown; readonly align_from?: unknown } | null;
  try {
    rule = JSON.parse(await readFile(join(bundle.directory, LEGACY_RULE_FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return bundle;
    rule = null;
  }
  const alignFrom = rule?.align_from;
  if (rule?.bundle_sha256 !== bundle.sha256 || typeof alignFrom !== 'number' || !(alignFrom >= 0)) {
    logger.warn({ model }, `${LEGACY_RULE_FILE} is ignored: put "align_from" into ${MANIFEST_FILE} to align frames`);
    return bundle;
  }
  logger.warn(
    { model },
    `only align_from of ${LEGACY_RULE_FILE} is read: put "align_from": ${alignFrom} into ${MANIFEST_FILE}`,
  );
  return { ...bundle, manifest: { ...bundle.manifest, align_from: alignFrom } };
}
