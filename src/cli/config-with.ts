/** Settings of a command that takes a bundle and a device as options, and errors of bundles as its errors. */
import { access, mkdir, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ScenedeltaError } from '../base/errors.js';
import { BundleError } from '../model/bundle.js';
import { type Config, loadConfig } from '../process/config.js';

/** @throws ScenedeltaError 'invalid-request' if a setting or the device does not fit */
export async function configWith({ model, device }: { model?: string; device?: string }): Promise<Config> {
  const config = loadConfig();
  return {
    ...config,
    dataDir: await graphCacheHome(config.dataDir),
    defaultModel: model ?? config.defaultModel,
    // read and refused as the setting is
    device: device === undefined ? config.device : loadConfig({ DEVICE: device }).device,
  };
}

/**
 * @param dataDir DATA_DIR, which belongs to the service: a command uses it if it is there and never creates it
 * @returns DATA_DIR, or else the user's cache folder (XDG Base Directory Specification)
 */
export async function graphCacheHome(dataDir: string): Promise<string> {
  const exists = await access(dataDir).then(
    () => true,
    () => false,
  );
  if (exists) return dataDir;
  const folder = join(homedir(), '.cache/scenedelta');
  // Without a home the graphs are optimised anew, which takes seconds and nothing else.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
  return folder;
}

/**
 * @param config names the folder that was searched
 * @throws ScenedeltaError 'unknown-model' instead of BundleError: the user can act on it, so it is printed without a
 * stack
 */
export async function withBundles<T>({ modelsDir }: Pick<Config, 'modelsDir'>, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    const entries = await readdir(modelsDir, { withFileTypes: true }).catch(() => []);
    const names = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
    throw new ScenedeltaError(
      'unknown-model',
      `${error.message} (MODELS_DIR=${modelsDir}, which has ${names.join(', ') || 'no bundle'})`,
      { cause: error },
    );
  }
}
