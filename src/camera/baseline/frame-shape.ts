/**
 * Frames of a camera in another shape: many recorders send the main stream by day and the second one by night, which
 * shows the same view stretched. Such a frame gets the shape of the frames before it, so that one view has one
 * background, whichever stream shows it.
 */
import { type RgbImage, type Size, sameAspectRatio } from '../../base/images.js';
import { decodeFrame, workingSize } from '../../frames/decode.js';
import type { DecodeLimits } from '../../frames/header.js';
import { codedFrame, stretched } from '../../frames/stretch.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { nearestBackground } from '../settings/background-model.js';
import type { CameraState } from '../state/state.js';

export interface FrameOfAnyShape {
  /** upright size of the encoded frame */
  readonly size: Size;
  /** at working size; null: rows of it are missing */
  readonly pixels: () => Promise<RgbImage | null>;
}

interface FittedFrame {
  /** JPEG in the shape of the camera's frames; null: the frame has that shape already, or shows another view */
  readonly bytes: Uint8Array | null;
  readonly state: CameraState;
  readonly notes: readonly CameraNote[];
}

/**
 * @param deps.read bytes of a stored frame; null: it is no longer stored
 * @throws ScenedeltaError of a stored frame that cannot be decoded
 */
export async function fitShape(
  { size, pixels }: FrameOfAnyShape,
  state: CameraState,
  deps: { readonly decodeLimits: DecodeLimits; readonly read: (ref: StoredFrameRef) => Promise<Uint8Array | null> },
): Promise<FittedFrame> {
  const { stretchedFrom, ...earlier } = state;
  if (earlier.size === null || sameAspectRatio(earlier.size, size)) return { bytes: null, state: earlier, notes: [] };
  const image = await pixels();
  if (image === null) return { bytes: null, state, notes: [] };
  const fitted = await stretched(image, workingSize(earlier.size));
  const isKnown = stretchedFrom?.width === size.width && stretchedFrom.height === size.height;
  if (!isKnown && !(await fitsBefore(fitted, earlier, deps))) return { bytes: null, state: earlier, notes: [] };
  const [sizeBefore, sizeNow] = [earlier.size, size].map(({ width, height }) => `${width}x${height} px`);
  const detail = `the frames had ${sizeBefore}, this one has ${sizeNow}: it shows the same view and is stretched to their shape`;
  return {
    bytes: await codedFrame(fitted),
    state: { ...earlier, stretchedFrom: size },
    notes: isKnown ? [] : [{ code: 'size_changed', detail }],
  };
}

/** The frame of an image file, or of a camera. */
export const shapeOf = (bytes: Uint8Array, size: Size, decodeLimits: DecodeLimits): FrameOfAnyShape => ({
  size,
  pixels: async () => {
    const decoded = await decodeFrame(bytes, { ...decodeLimits, field: 'frame' });
    return decoded.lost === null ? decoded : null;
  },
});

async function fitsBefore(
  fitted: RgbImage,
  { before, backgrounds, light }: CameraState,
  { decodeLimits, read }: Parameters<typeof fitShape>[2],
): Promise<boolean> {
  const kept = before?.frame ?? (light === null ? undefined : nearestBackground(backgrounds, light)?.background.frame);
  const bytes = kept === undefined ? null : await read(kept);
  if (bytes === null) return false;
  // Loaded with the first frame of another shape: else threads register views.
  const { showsSameView } = await import('../../viewpoint/examine.js');
  return showsSameView(await decodeFrame(bytes, { ...decodeLimits, field: 'before' }), fitted);
}
