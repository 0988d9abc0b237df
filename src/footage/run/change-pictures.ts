/** Pictures of the changes of one chunk, as they are written beside the outputs. */
import type { RgbImage } from '../../base/images.js';
import { withFullSize } from '../../frames/decode.js';
import type { DecodeLimits } from '../../frames/header.js';
import sharp from '../../frames/sharp.js';
import type { PictureFile } from './checkpoint.js';

/** Pictures of the outputs are for the eye. */
const QUALITY = 85;

export class ChangePictures {
  readonly #limits: DecodeLimits;
  readonly #pictures = new Map<string, { readonly sha256: string; readonly bytes: Uint8Array }>();

  constructor(limits: DecodeLimits) {
    this.#limits = limits;
  }

  /**
   * @param name path of the picture; replaces an earlier one of this name
   * @param sha256 of the frame
   * @throws ScenedeltaError as the decoder does
   */
  async keep(name: string, sha256: string, frame: Uint8Array): Promise<void> {
    // A change is recorded again whenever it is seen, mostly with the same frames.
    if (this.#pictures.get(name)?.sha256 === sha256) return;
    const bytes = await withFullSize(frame, { ...this.#limits, field: name }, (image) => jpegOf(image, QUALITY));
    this.#pictures.set(name, { sha256, bytes });
  }

  /** @returns the pictures since the last call */
  take(): PictureFile[] {
    const taken = [...this.#pictures].map(([name, { bytes }]) => ({ name, bytes }));
    this.#pictures.clear();
    return taken;
  }
}

/** @param quality of JPEG, 1 to 100 */
export const jpegOf = ({ data, width, height }: RgbImage, quality: number): Promise<Uint8Array> =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
