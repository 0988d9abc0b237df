/** The picture of a sampled frame: its content, its preview, and its bytes as they are stored. */
import { createHash } from 'node:crypto';
import type { Preview } from '../../base/images.js';
import { LOSSY_MARGIN } from '../../base/privacy-mask.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import type { DecodeLimits } from '../../frames/header.js';
import { decodePreview } from '../../frames/preview.js';
import { maskedFrame, paintPolygon, paintPreview } from '../../frames/privacy-mask.js';
import type { Picture } from '../inputs/source-frames.js';
import { jpegOf } from './change-pictures.js';

/** High enough that the coding adds nothing that resembles a change. */
const JPEG_QUALITY = 95;

/** @returns a text that equal frames share; to be asked for before the preview, which is masked in place */
export const contentOf = (picture: Picture): string =>
  createHash('sha256')
    .update(picture.from === 'video' ? picture.preview.luma : picture.bytes)
    .digest('hex');

/** Masked, because it is compared and saved with the checkpoint. @throws ScenedeltaError 'image-unreadable' */
export async function previewOf(picture: Picture, camera: StoredCamera, limits: DecodeLimits): Promise<Preview> {
  const preview =
    picture.from === 'video' ? picture.preview : await decodePreview(picture.bytes, { ...limits, field: 'frame' });
  for (const polygon of maskOf(camera)?.polygons ?? []) paintPreview(preview, polygon);
  return preview;
}

interface CodedPicture {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** id of the mask that is painted on the bytes */
  readonly mask?: string;
}

/** @returns the masked picture, coded if it is of a video @throws ScenedeltaError of a picture that is no image */
export async function codedPicture(
  picture: Picture,
  camera: StoredCamera,
  limits: DecodeLimits,
): Promise<CodedPicture> {
  const mask = maskOf(camera);
  if (picture.from === 'video') {
    const image = picture.image();
    for (const polygon of mask?.polygons ?? []) paintPolygon(image, polygon, LOSSY_MARGIN);
    return { bytes: await jpegOf(image, JPEG_QUALITY), contentType: 'image/jpeg', ...(mask && { mask: mask.id }) };
  }
  const { bytes, contentType } = picture;
  return mask === null ? { bytes, contentType } : maskedFrame(bytes, mask, { ...limits, field: 'frame' });
}
