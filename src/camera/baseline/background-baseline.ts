/** "Before" of the mode `memory`: the background of the frame's light, from the camera's background model. */
import type { RgbImage, Side } from '../../base/images.js';
import { type DecodedFrame, decodeFrame } from '../../frames/decode.js';
import { type StoredFrame, storeFrame } from '../../frames/keep.js';
import { assertComplete } from '../../frames/lost-rows.js';
import sharp from '../../frames/sharp.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { blend, nearestBackground } from '../settings/background-model.js';
import type { StoredCamera } from '../settings/camera.js';
import { lightOf, measureLight } from '../settings/light.js';
import { type BaselineDependencies, fetchIfStored, type ModeBaseline, type ModeContext } from './context.js';
import { type BackgroundBlend, usableBackgrounds } from './next.js';

export async function backgroundBaseline(context: ModeContext, deps: BaselineDependencies): Promise<ModeBaseline> {
  const { camera, state, frame, size } = context;
  const pixels = await decode(frame.bytes, 'after', deps);
  const { width, height } = pixels;
  const light = lightOf(measureLight(decodedPart(pixels)), state.light);
  const model = usableBackgrounds(state.backgrounds, camera.mask, pixels);
  const nearest = nearestBackground(model, light);
  const before = nearest === null ? null : await fetchIfStored(nearest.background.frame, context, deps);
  if (before === null) assertComplete(pixels, 'after');

  const notes: CameraNote[] = [];
  if (Object.keys(model).length < Object.keys(state.backgrounds).length && !size.otherShape) {
    notes.push(note('mask_changed', 'the privacy zones have changed, so the background model starts again'));
  }
  if (nearest === null) notes.push(note('first_frame', `this frame starts the background of ${light}`));
  else if (before === null) {
    notes.push(note('before_lost', `the background of ${nearest.light} is no longer stored`));
  } else if (nearest.light !== light) {
    const borrowed = `compared with that of ${nearest.light}`;
    notes.push(note('other_light', `there is no background of ${light} yet, ${borrowed}`));
  }

  return {
    frame: before,
    at: nearest === null || before === null ? null : nearest.background.learnedAt,
    notes,
    candidate: { kind: 'background', light, width, height, isStray: size.status === 'stray' },
    pixels,
  };
}

/** Stores a background that has approached the camera's frame. @param pixels of the frame, at working size */
export async function storeBlend(
  { protect, absorb }: BackgroundBlend,
  before: StoredFrame,
  pixels: RgbImage,
  { mask }: StoredCamera,
  deps: BaselineDependencies,
): Promise<StoredFrameRef> {
  const background = await decode(before.bytes, 'before', deps);
  const { data, width, height } = blend(background, pixels, { protect, absorb });
  // Lossless, because a lossy coding would be larger than the steps of `blend`.
  const png = sharp(data, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 3 });
  const frame = { bytes: await png.toBuffer(), contentType: 'image/png', mask: mask ?? undefined };
  return (await storeFrame(deps.blobs, frame)).ref;
}

/** Rows that the decoder filled have no light; measureLight skips black pixels. */
function decodedPart({ width, height, data, lost }: DecodedFrame): RgbImage {
  if (lost === null) return { width, height, data };
  const shown = Uint8Array.from(data);
  for (let y = lost.y; y < lost.y + lost.height; y++) {
    shown.fill(0, 3 * (y * width + lost.x), 3 * (y * width + lost.x + lost.width));
  }
  return { width, height, data: shown };
}

const decode = (bytes: Uint8Array, side: Side, { decodeLimits }: BaselineDependencies) =>
  decodeFrame(bytes, { ...decodeLimits, field: side });

const note = (code: CameraNote['code'], detail: string): CameraNote => ({ code, detail });
