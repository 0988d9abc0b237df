/** Lookup of the comparison that a path names, for a request that may see it. */
import { notFound } from '../../base/errors.js';
import type { StoredComparison } from '../../stores/comparisons/stored-comparison.js';
import { seesComparison, type Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';

/** @throws ScenedeltaError 'not-found', also for a comparison that the request may not see */
export async function findComparison(
  deps: Pick<ApiDependencies, 'results'>,
  id: string,
  visibility: Visibility,
): Promise<StoredComparison> {
  const stored = await deps.results.get(id);
  if (stored !== undefined) {
    const { comparison, request } = stored;
    if (seesComparison(visibility, { owner: request.owner, camera: comparison.camera })) return stored;
  }
  throw notFound(`There is no comparison ${id}: it never was, was erased or has expired`);
}
