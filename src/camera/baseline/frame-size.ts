/**
 * Size of a camera's frames. A single frame of another size (a thumbnail, a still of the second stream, a frame of
 * another camera) must not replace the baseline, so a new size counts only after several frames in a row.
 */
import { type Size, sameAspectRatio } from '../../base/images.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { CameraState } from '../state/state.js';

/**
 * Frames in a row that must have a new size. One is a stray frame and two are its repetition by a client that tries
 * again; a camera that was set to another size keeps it, and loses two comparisons.
 */
const SIZE_FRAMES = 3;

export interface SizeCheck {
  /** known: the size of the frames before; stray: another one; confirmed: the new size of the camera from now on */
  readonly status: 'known' | 'stray' | 'confirmed';
  /** The aspect ratio is not the one of the frames before, so the frame cannot be compared with them. */
  readonly otherShape: boolean;
  readonly notes: readonly CameraNote[];
  readonly state: Pick<CameraState, 'size' | 'otherSize'>;
}

/** @param now upright size of the frame */
export function checkSize({ size, otherSize }: Pick<CameraState, 'size' | 'otherSize'>, now: Size): SizeCheck {
  if (size === null || isSameSize(size, now)) {
    return { status: 'known', otherShape: false, notes: [], state: { size: now } };
  }
  const frames = otherSize !== undefined && isSameSize(otherSize, now) ? otherSize.frames + 1 : 1;
  const confirmed = frames >= SIZE_FRAMES;
  const otherShape = !sameAspectRatio(size, now);
  const sizes = `the frames had ${size.width}x${size.height} px, this one has ${now.width}x${now.height} px`;
  const count = `${frames} of ${SIZE_FRAMES} frames in a row`;
  const shape = confirmed
    ? `: the aspect ratio differs in ${count}, so this frame starts a new baseline`
    : `: the aspect ratio differs, so it is compared with nothing (${count}; then a new baseline starts)`;
  return {
    status: confirmed ? 'confirmed' : 'stray',
    otherShape,
    notes: [{ code: 'size_changed', detail: otherShape ? sizes + shape : sizes }],
    state: confirmed ? { size: now } : { size, otherSize: { ...now, frames } },
  };
}

const isSameSize = (a: Size, b: Size): boolean => a.width === b.width && a.height === b.height;
