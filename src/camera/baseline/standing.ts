/**
 * The baseline of a frame that equals the last examined one, from the state alone: neither the frame nor its "before"
 * is decoded.
 */
import type { Size } from '../../base/images.js';
import { nearestBackground } from '../settings/background-model.js';
import type { StoredCamera } from '../settings/camera.js';
import type { CameraState } from '../state/state.js';
import type { BaselineEvidence } from './context.js';
import { checkSize } from './frame-size.js';
import { sourceOf, usableBackgrounds } from './next.js';

interface StandingBaseline extends BaselineEvidence {
  readonly before: NonNullable<BaselineEvidence['before']>;
}

/**
 * @param size upright size of the encoded frame
 * @returns null if the frame itself is needed to choose its "before"
 */
export function standingBaseline(camera: StoredCamera, state: CameraState, size: Size): StandingBaseline | null {
  const checked = checkSize(state, size);
  if (state.against !== sourceOf(camera) || checked.status !== 'known') return null;
  const found =
    camera.settings.before === 'memory' ? standingBackground(camera, state, size) : standingFrame(camera, state);
  return found && { ...found, size: checked.state, skipped: false, reset: false, notes: [] };
}

type Standing = Pick<StandingBaseline, 'before' | 'candidate'>;

function standingFrame(
  { settings, reference, mask }: StoredCamera,
  { before, examined }: CameraState,
): Standing | null {
  const isReference = settings.before === 'reference';
  const chosen = isReference ? reference : null;
  const frame = chosen ?? before?.frame;
  if (frame === undefined || frame.mask !== (mask ?? undefined)) return null;
  // The examined frame stays the previous one: the frames that equal it show nothing else, and a slow drift adds up.
  const isExamined = frame.sha256 === examined?.frame.sha256;
  return {
    before: { frame, at: chosen === null ? (before?.at ?? null) : null },
    candidate: isReference || isExamined ? { kind: 'keep' } : { kind: 'frame' },
  };
}

/** A light without a background borrows the nearest one, as in the examination. */
function standingBackground({ mask }: StoredCamera, { light, backgrounds }: CameraState, size: Size): Standing | null {
  const nearest = light === null ? null : nearestBackground(usableBackgrounds(backgrounds, mask, size), light);
  if (light === null || nearest === null) return null;
  const { frame, learnedAt, width, height } = nearest.background;
  return { before: { frame, at: learnedAt }, candidate: { kind: 'background', light, width, height, isStray: false } };
}
