/** Limits of the queue: MAX_WAITING for all, a share of it per owner, and a part that is kept for cameras. */
import { ScenedeltaError } from '../../base/errors.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';

type Options = Pick<ApiOptions, 'maxWaiting' | 'cameraReserve' | 'ownerShare'>;

/**
 * Called before the body is read, so that an overload costs little. The count of all waiting work may be half a second
 * old.
 * @param work 'frame': a camera's frame, which may use the part that is kept for cameras
 * @throws ScenedeltaError 'queue-share-used' if the owner has used its share, 'overloaded' if too much work is waiting
 */
export async function assertCapacity(
  { owner }: { readonly owner: string | undefined },
  work: 'comparison' | 'frame',
  deps: { queue: Pick<ApiDependencies['queue'], 'waiting'>; results: Pick<ApiDependencies['results'], 'openOf'> },
  { maxWaiting, cameraReserve, ownerShare }: Options,
): Promise<void> {
  // Without keys there is one owner.
  if (owner !== undefined && owner !== LOCAL_KEY_ID && ownerShare < 100) {
    const open = await deps.results.openOf(owner);
    const share = Math.max(1, Math.floor((maxWaiting * ownerShare) / 100));
    if (open >= share) {
      throw new ScenedeltaError(
        'queue-share-used',
        `${open} comparisons of the owner ${owner} are unfinished, expected fewer than ${share} ` +
          `(OWNER_SHARE: ${ownerShare} % of MAX_WAITING)`,
      );
    }
  }
  const kept = work === 'frame' ? 0 : Math.floor((maxWaiting * cameraReserve) / 100);
  const waiting = await deps.queue.waiting();
  if (waiting < maxWaiting - kept) return;
  throw new ScenedeltaError(
    'overloaded',
    `${waiting} comparisons are waiting, expected fewer than ${maxWaiting - kept} ` +
      (kept === 0 ? '(MAX_WAITING)' : `(MAX_WAITING without the ${kept} that CAMERA_RESERVE keeps for cameras)`),
  );
}
