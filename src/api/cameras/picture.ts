/**
 * Reader of a picture that frames will be compared with: a reference, or a baseline. A hash opens only the frames of
 * the camera itself, because those of others may show what their privacy zones hide.
 */
import type { Static } from 'typebox';
import { type BlobStore, frameKey } from '../../base/blobs.js';
import { invalidRequest, invalidValue } from '../../base/errors.js';
import { sniffImage } from '../../base/image-type.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import type { DecodedFrame } from '../../frames/decode.js';
import type { DecodeLimits } from '../../frames/header.js';
import type { FrameKeeper, IncomingFrame } from '../../frames/keep.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { FrameUses } from '../../stores/blobs/frame-uses.js';
import { readFrame } from '../intake/frame-input.js';
import type { PictureSchema } from '../schemas/camera.js';

export interface PictureDependencies extends DecodeLimits {
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly frameUses: Pick<FrameUses, 'ofCamera' | 'inComparisons'>;
  readonly keeper: FrameKeeper;
  readonly frameLimit: number;
}

/**
 * @param given a picture in one of the forms of JSON
 * @param camera id of the camera that it is for
 * @throws ScenedeltaError invalid-request, invalid-value, payload-too-large or image-unreadable, naming the field;
 * storage-unavailable
 */
export async function readPicture(
  given: Static<typeof PictureSchema>,
  camera: string,
  field: string,
  { blobs, frameUses, frameLimit }: PictureDependencies,
): Promise<IncomingFrame> {
  if (typeof given !== 'object' || !('sha256' in given)) return readFrame(given, field, frameLimit);
  const { sha256 } = given;
  const isOfCamera =
    (await frameUses.ofCamera(camera)).has(sha256) ||
    (await frameUses.inComparisons(new Set([sha256]), camera)).has(sha256);
  const bytes = isOfCamera ? await blobs.get(frameKey(sha256)) : undefined;
  if (bytes !== undefined) return { from: 'bytes', bytes, sha256, contentType: sniffImage(bytes, field) };
  throw invalidValue(`${field} is the frame ${sha256}, expected a frame of ${camera} that is still stored`, field);
}

/**
 * Masks and stores the picture.
 * @returns its reference, and its pixels as they are stored
 * @throws ScenedeltaError invalid-request for an address, because only a worker may request one; image-unreadable,
 *   image-too-large, image-too-small; storage-unavailable
 */
export async function keepPicture(
  frame: IncomingFrame,
  camera: StoredCamera,
  field: string,
  { keeper, pixelLimit, decodeTimeout }: PictureDependencies,
): Promise<{ ref: StoredFrameRef; pixels: DecodedFrame }> {
  if (frame.from !== 'bytes') {
    throw invalidRequest(`${field} is an address, expected bytes in base64 or {"sha256"}`, field);
  }
  const mask = maskOf(camera);
  const shown = mask === null ? frame.bytes : await keeper.shown(frame.bytes, mask, field);
  // Loaded with the first picture.
  const { decodeFrame } = await import('../../frames/decode.js');
  const { assertComplete } = await import('../../frames/lost-rows.js');
  // Before it is stored: every comparison with a damaged picture would fail.
  const pixels = await decodeFrame(shown, { field, pixelLimit, decodeTimeout });
  assertComplete(pixels, field);
  return { ref: (await keeper.keep(frame, mask, field)) as StoredFrameRef, pixels };
}
