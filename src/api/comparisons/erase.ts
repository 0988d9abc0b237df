/** Erasing comparisons. */
import type { Comparison } from '../../schemas/comparison.js';
import { heatmapKey } from '../../stores/blobs.js';
import type { ApiDependencies } from '../dependencies.js';

type Dependencies = Pick<ApiDependencies, 'results' | 'blobs' | 'queue' | 'clock'>;

/** Work that has not ended is cancelled; the result, its heatmaps and every way to its frames are gone. */
export async function eraseComparison(comparison: Comparison, deps: Dependencies): Promise<void> {
  const { id } = comparison;
  const finished_at = new Date(deps.clock()).toISOString();
  // The order matters: who waits hears of the end first, then the worker stops, then there is nothing left to find.
  const stopped = await deps.results.update(id, {
    comparison: { ...comparison, status: 'cancelled', finished_at },
  });
  if (stopped) await deps.queue.cancel(id);
  await deps.blobs.delete(heatmapKey(id));
  await deps.results.erase(id);
}

const AT_ONCE = 100;

/** @returns how many there were. */
export async function eraseComparisonsOf(camera: string, deps: Dependencies): Promise<number> {
  for (let erased = 0; ; ) {
    const { items } = await deps.results.list({ camera, limit: AT_ONCE });
    if (items.length === 0) return erased;
    for (const comparison of items) await eraseComparison(comparison, deps);
    erased += items.length;
  }
}
