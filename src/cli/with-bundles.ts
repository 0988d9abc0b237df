/** Errors of bundles as errors of a command. */
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { BundleError } from '../model/bundle.js';

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
    throw new ScenedeltaError('unknown-model', `${error.message} (MODELS_DIR=${modelsDir})`, {
      cause: error,
    });
  }
}
