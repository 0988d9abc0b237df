/** Pictures of thermal cameras in recordings: eight bits by the range of the camera. */
import type { DecodeLimits } from '../frames/decode.js';
import { levelFrame } from '../sequence/level-range.js';
import type { CameraState } from '../sequence/state.js';
import type { Picture } from './source-frames.js';

interface LevelledPicture {
  readonly picture: Picture;
  readonly state: CameraState;
  readonly isNewRange: boolean;
}

/** @returns picture and state unaltered if the picture is not deep grey @throws ScenedeltaError as levelFrame */
export async function levelPicture(
  picture: Picture,
  state: CameraState,
  limits: DecodeLimits,
): Promise<LevelledPicture> {
  const levelled = picture.from === 'video' ? null : await levelFrame(picture.bytes, state, limits);
  if (levelled === null) return { picture, state, isNewRange: false };
  return { ...levelled, picture: { from: 'image', bytes: levelled.bytes, contentType: 'image/png' } };
}
