/** Frames without any difference: a camera that is stuck repeats one picture. Pure. */
import { isoTime } from '../../base/wall-clock.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { StoredCamera } from '../settings/camera.js';
import type { CameraState, UnseenSpan } from '../state/state.js';

/** Two may be the repetition of a client that tries again. */
const LEAST_FRAMES = 3;

interface Stillness {
  readonly still: CameraState['still'];
  readonly notes: readonly CameraNote[];
  /** with this frame the camera is stuck, or shows its scene again */
  readonly turns: boolean;
  /** the span that its recovery ends */
  readonly unseen: readonly UnseenSpan[];
}

/**
 * @param state before the frame
 * @param identical the frame does not differ from the one before
 */
export function checkStillness(
  { settings }: Pick<StoredCamera, 'settings'>,
  state: Pick<CameraState, 'still' | 'last'>,
  { at, identical }: { readonly at: number; readonly identical: boolean },
): Stillness {
  const { still: earlier, last } = state;
  if (!identical || last === null) {
    const wasStuck = earlier?.stuck === true;
    return {
      still: undefined,
      notes: [],
      turns: wasStuck,
      unseen: wasStuck ? [{ reason: 'frozen', from: earlier.since, until: at }] : [],
    };
  }
  const since = earlier?.since ?? last.at;
  const frames = (earlier?.frames ?? 1) + 1;
  const limit = settings.frozen_after_s * 1000;
  const frozen = limit > 0 && frames >= LEAST_FRAMES && at - since >= limit;
  const stuck = frozen || earlier?.stuck === true;
  const detail = `the picture has not changed at all since ${isoTime(since)}: the camera may be stuck`;
  return {
    still: { since, frames, stuck },
    notes: frozen ? [{ code: 'frozen', detail }] : [],
    turns: stuck && earlier?.stuck !== true,
    unseen: [],
  };
}
