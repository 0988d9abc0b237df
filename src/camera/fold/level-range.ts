/** Levels of a thermal camera: all its frames become 8-bit grey by one range, which its state keeps. */

import { inEightBits, rangeOfCamera, readDeepGrey, shareOutside, spreadOf } from '../../frames/deep-grey.js';
import type { DecodeLimits } from '../../frames/header.js';
import type { BaselineEvent, CameraState } from '../state/state.js';

/** Share of a frame outside of the range from which the frame sets another one. */
const MOST_OUTSIDE = 0.5;
/** Least spread of a frame that sets another range, in widths of the kept one: a closed shutter shows one level. */
const LEAST_WIDTH = 1 / 16;

/** Order for the baseline, whose frames have greys of another range. */
export const NEW_RANGE: BaselineEvent = {
  type: 'baseline.reset',
  because: 'most levels of this frame are outside of the range of the frames before, so the baseline starts again',
};

export interface LevelledFrame {
  /** 8-bit PNG */
  readonly bytes: Uint8Array;
  /** with the range of the frame */
  readonly state: CameraState;
  /** the range is another one, so that earlier frames show other greys: the baseline has to be reset */
  readonly isNewRange: boolean;
}

/**
 * @returns null if the frame is not deep grey
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function levelFrame(
  bytes: Uint8Array,
  state: CameraState,
  limits: DecodeLimits,
): Promise<LevelledFrame | null> {
  const grey = await readDeepGrey(bytes, { ...limits, field: 'frame' });
  if (grey === null) return null;
  const kept = state.levels;
  const spread = spreadOf(grey);
  const isNewRange =
    kept === undefined ||
    (shareOutside(grey, kept) > MOST_OUTSIDE && spread.high - spread.low > LEAST_WIDTH * (kept.high - kept.low));
  const levels = isNewRange ? rangeOfCamera(spread, grey) : kept;
  return {
    bytes: await inEightBits(grey, levels),
    state: { ...state, levels },
    isNewRange: isNewRange && kept !== undefined,
  };
}
