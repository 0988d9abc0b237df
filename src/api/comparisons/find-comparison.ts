/** Lookup of the comparison that a path names. */
import { ScenedeltaError } from '../../errors.js';
import type { StoredComparison } from '../../stores/results.js';
import type { ApiDependencies } from '../dependencies.js';

/** @throws ScenedeltaError 'not-found' */
export async function findComparison(
  deps: Pick<ApiDependencies, 'results'>,
  id: string,
): Promise<StoredComparison> {
  const stored = await deps.results.get(id);
  if (stored !== undefined) return stored;
  throw new ScenedeltaError(
    'not-found',
    `There is no comparison ${id}: it never was, was erased or has expired`,
  );
}
