/** Something that has covered a large part of the view for long: drops, fog on the glass, dirt, a web. Pure. */
import { isoTime } from '../../base/wall-clock.js';
import type { Finding } from '../../schemas/comparison.js';
import { LENS } from '../../schemas/loss.js';
import type { CameraHealthEvent } from '../../schemas/stream-event.js';
import type { StoredCamera } from '../settings/camera.js';
import type { CameraState } from '../state/state.js';

/**
 * @param earlier state before the frame
 * @param frame.finding null: there was nothing to compare with
 * @returns an event as soon as it has lasted for `covered_after_s`, and one when the view has been clear for as long
 */
export function checkLens(
  { id, settings }: Pick<StoredCamera, 'id' | 'settings'>,
  earlier: CameraState['lens'],
  { at, finding }: { readonly at: number; readonly finding: Finding | null },
): { readonly lens: CameraState['lens']; readonly event: CameraHealthEvent | null } {
  const limit = settings.covered_after_s * 1000;
  if (limit === 0) return { lens: undefined, event: null };
  const event = (type: CameraHealthEvent['type'], since: number, share: number): CameraHealthEvent => ({
    ...{ type, camera: id, reason: LENS, share },
    since: isoTime(since),
    at: isoTime(at),
  });
  if (finding?.lens === undefined) {
    // A frame that does not show the view does not prove that it is clear.
    if (finding === null || finding.verdict === 'tamper') return { lens: earlier, event: null };
    if (earlier?.reported !== true) return { lens: undefined, event: null };
    const { since, share, clearSince = at } = earlier;
    if (at - clearSince < limit) return { lens: { ...earlier, clearSince }, event: null };
    return { lens: undefined, event: event('camera.lens_clear', since, share) };
  }
  const { share } = finding.lens;
  const { since = at, reported = false } = earlier ?? {};
  const isSuspended = settings.suspend_until !== null && at < Date.parse(settings.suspend_until);
  const isNew = !reported && at - since >= limit && !isSuspended;
  return {
    lens: { since, share, reported: reported || isNew },
    event: isNew ? event('camera.lens_covered', since, share) : null,
  };
}
