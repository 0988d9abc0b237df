/** Reports of the progress of one camera of a batch between its chunks, with an event for each further percent. */
import type { BatchRecord, BatchStore } from '../stores/batches/batches.js';
import { type BatchProgress, progressOf } from '../stores/batches/progress.js';

/**
 * @param index of the camera in the plan
 * @param clock epoch ms
 * @returns a function that reports, and returns whether the batch still runs
 */
export function progressReports(
  { id, plan }: Pick<BatchRecord, 'id' | 'plan'>,
  index: number,
  { batches, clock }: { readonly batches: Pick<BatchStore, 'report' | 'announce'>; readonly clock: () => number },
) {
  const alone = plan === null ? null : { ...plan, cameras: plan.cameras.slice(index, index + 1) };
  let announced = -1;
  return async (progress: BatchProgress): Promise<boolean> => {
    if (!(await batches.report(id, index, progress))) return false;
    const percent = Math.floor(100 * progressOf({ plan: alone, progress: [progress] }).progress);
    if (percent === announced) return true;
    announced = percent;
    return batches.announce(id, clock());
  };
}
