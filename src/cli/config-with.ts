/** Settings of a command that takes a bundle and a device as options, and errors of bundles as its errors. */
import { readdir } from 'node:fs/promises';
import { ScenedeltaError } from '../base/errors.js';
import { BundleError } from '../model/bundle.js';
import { cacheFolder } from '../process/cache-folder.js';
import { type Config, loadConfig } from '../process/config.js';

/** @throws ScenedeltaError 'invalid-request' if a setting or the device does not fit */
export async function configWith({ model, device }: { model?: string; device?: string }): Promise<Config> {
  const config = loadConfig();
  return {
    ...config,
    dataDir: await cacheFolder(config.dataDir),
    defaultModel: model ?? config.defaultModel,
    // read and refused as the setting is
    device: device === undefined ? config.device : loadConfig({ DEVICE: device }).device,
  };
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
