/** Errors of bundles as errors of a command. */
import { ScenedeltaError } from '../errors.js';
import { BundleError } from '../model/bundle.js';

/**
 * @throws ScenedeltaError 'unknown-model' instead of BundleError: the user can act on it, so it is printed without a
 * stack.
 */
export async function withBundles<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (error instanceof BundleError)
      throw new ScenedeltaError('unknown-model', error.message, { cause: error });
    throw error;
  }
}
