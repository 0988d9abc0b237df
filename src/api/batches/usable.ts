/** Values that fit the schema of a request and may be unusable nevertheless. */
import { ScenedeltaError } from '../../errors.js';

/** @throws ScenedeltaError 'invalid-value' naming the field, because the value fits the schema */
export function usable<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError)) throw thrown;
    throw new ScenedeltaError('invalid-value', thrown.message, { field, cause: thrown });
  }
}
