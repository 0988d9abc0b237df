/** Frames that do not show the camera's scene: a lost signal, a damaged or a foreign picture. Pure. */
import { isoTime } from '../../base/wall-clock.js';
import type { Finding } from '../../schemas/comparison.js';
import { SIGNAL_REASONS, type SignalReason } from '../../schemas/loss.js';
import type { CameraHealthEvent } from '../../schemas/stream-event.js';
import type { CameraState, UnseenSpan } from '../state/state.js';

/** @param skipped the frame has another shape than the camera's frames @returns null: the frame shows the scene */
function reasonOf(finding: Finding | null, skipped: boolean): SignalReason | null {
  const lost = SIGNAL_REASONS.find((name) => name === finding?.tamper?.[0]?.name);
  return lost ?? (skipped && finding === null ? 'foreign_picture' : null);
}

/**
 * @param earlier state before the frame
 * @param frame.confirmFrames frames in a row from which the loss is an event, as a change would be
 */
export function checkSignal(
  camera: string,
  earlier: CameraState['signal'],
  frame: { at: number; finding: Finding | null; skipped: boolean; confirmFrames: number },
): { signal: CameraState['signal']; event: CameraHealthEvent | null; unseen: UnseenSpan[] } {
  const { at, finding, skipped, confirmFrames } = frame;
  const found = reasonOf(finding, skipped);
  const { since, reason } = earlier ?? { since: at, reason: found };
  const event = (type: CameraHealthEvent['type']) =>
    reason === null ? null : { type, camera, since: isoTime(since), reason, at: isoTime(at) };
  if (found === null || reason === null) {
    if (earlier?.reported !== true) return { signal: undefined, event: null, unseen: [] };
    // The brief has the other losses as changes of the kind `tamper`.
    const unseen = reason === 'foreign_picture' ? [{ reason, from: since, until: at }] : [];
    return { signal: undefined, event: event('camera.signal_back'), unseen };
  }
  const frames = (earlier?.frames ?? 0) + 1;
  const reported = frames >= confirmFrames;
  const isNew = reported && earlier?.reported !== true;
  return { signal: { since, frames, reported, reason }, event: isNew ? event('camera.signal_lost') : null, unseen: [] };
}
