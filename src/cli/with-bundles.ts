import { ScenedeltaError } from '../errors.js';
import { BundleError } from '../model/bundle.js';

/** A bundle that cannot be served is the reader's to mend: one line for them instead of a stack. */
export async function withBundles<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (error instanceof BundleError)
      throw new ScenedeltaError('unknown-model', error.message, { cause: error });
    throw error;
  }
}
