/** Erasure of comparisons. */
import { heatmapKey } from '../../base/blobs.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { ApiDependencies } from '../dependencies.js';

type Dependencies = Pick<ApiDependencies, 'results' | 'blobs' | 'frameUses' | 'queue' | 'clock'>;

/** Cancels unfinished work, then erases the result and its heatmaps, and leaves its frames to the retention. */
export async function eraseComparison(comparison: Comparison, deps: Dependencies): Promise<void> {
  const { id } = comparison;
  const finished_at = new Date(deps.clock()).toISOString();
  // The order matters: waiting requests get the cancelled comparison, then the worker stops, then the data is erased.
  const stopped = await deps.results.update(id, { comparison: { ...comparison, status: 'cancelled', finished_at } });
  if (stopped) await deps.queue.cancel(id);
  await deps.blobs.delete(heatmapKey(id));
  await deps.frameUses.leaveComparison(id, deps.clock());
  await deps.results.erase(id);
}

const PAGE_SIZE = 100;

/** Erases all comparisons of a camera. @returns their number */
export async function eraseComparisonsOf(camera: string, deps: Dependencies): Promise<number> {
  let erased = 0;
  for (let cursor: string | undefined; ; ) {
    const query = { camera, limit: PAGE_SIZE };
    const page = await deps.results.list(cursor === undefined ? query : { ...query, cursor });
    for (const comparison of page.items) await eraseComparison(comparison, deps);
    erased += page.items.length;
    if (page.nextCursor === null) return erased;
    cursor = page.nextCursor;
  }
}
