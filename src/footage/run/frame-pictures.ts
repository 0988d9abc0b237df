/**
 * The pictures of frames as they are stored, as previews, and by their content. Each is made once, for the first of its
 * callers.
 */
import { createHash } from 'node:crypto';
import type { Preview } from '../../base/images.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import { LOSSY_MARGIN } from '../../camera/settings/privacy-margin.js';
import type { DecodeLimits } from '../../frames/decode.js';
import { decodePreview } from '../../frames/preview.js';
import { maskedFrame, paintPolygon, paintPreview } from '../../frames/privacy-mask.js';
import type { Picture } from '../inputs/source-frames.js';
import { jpegOf } from './change-pictures.js';

/** High enough that the coding adds nothing that resembles a change. */
const JPEG_QUALITY = 95;

interface CodedPicture {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** id of the mask that is painted on the bytes */
  readonly mask?: string;
}

export class FramePictures {
  readonly #camera: StoredCamera;
  readonly #limits: DecodeLimits;
  readonly #coded = new WeakMap<Picture, Promise<CodedPicture>>();
  readonly #previews = new WeakMap<Picture, Promise<Preview>>();
  readonly #contents = new WeakMap<Picture, string>();

  constructor(camera: StoredCamera, limits: DecodeLimits) {
    this.#camera = camera;
    this.#limits = limits;
  }

  /** @returns a text that equal frames share; to be asked for before the preview, which is masked in place */
  content(picture: Picture): string {
    const bytes = picture.from === 'video' ? picture.preview.luma : picture.bytes;
    const content = this.#contents.get(picture) ?? createHash('sha256').update(bytes).digest('hex');
    this.#contents.set(picture, content);
    return content;
  }

  /** @returns the masked picture, coded if it is of a video @throws ScenedeltaError of a picture that is no image */
  coded(picture: Picture): Promise<CodedPicture> {
    return once(this.#coded, picture, () => this.#code(picture));
  }

  /** Masked, because a preview is compared and is saved with the checkpoint. */
  preview(picture: Picture): Promise<Preview> {
    return once(this.#previews, picture, async () => {
      const preview =
        picture.from === 'video'
          ? picture.preview
          : await decodePreview(picture.bytes, { ...this.#limits, field: 'frame' });
      for (const polygon of maskOf(this.#camera)?.polygons ?? []) paintPreview(preview, polygon);
      return preview;
    });
  }

  async #code(picture: Picture): Promise<CodedPicture> {
    const mask = maskOf(this.#camera);
    if (picture.from === 'video') {
      const image = picture.image();
      for (const polygon of mask?.polygons ?? []) paintPolygon(image, polygon, LOSSY_MARGIN);
      return { bytes: await jpegOf(image, JPEG_QUALITY), contentType: 'image/jpeg', ...(mask && { mask: mask.id }) };
    }
    const { bytes, contentType } = picture;
    return mask === null ? { bytes, contentType } : maskedFrame(bytes, mask, { ...this.#limits, field: 'frame' });
  }
}

function once<T>(made: WeakMap<Picture, Promise<T>>, picture: Picture, make: () => Promise<T>): Promise<T> {
  const promise = made.get(picture) ?? make();
  made.set(picture, promise);
  return promise;
}
