/** Preprocessing of a frame for the network: resampled as in training (resample.ts), normalised, planar. */
import type { RgbImage } from '../base/images.js';
import { type PixelBox, resample } from './resample.js';

export type { PixelBox } from './resample.js';

/** (pixel - mean) / std per channel R, G, B, for pixels of 0..1. */
interface Normalisation {
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
}

export const fullFrame = (image: RgbImage): PixelBox => ({ x: 0, y: 0, width: image.width, height: image.height });

/**
 * @param out receives planar float32 [3, height, width]; length = 3 * height * width
 * @throws RangeError if the box is empty or leaves the image, or `out` has another length
 */
export function resizeNormalised(
  image: RgbImage,
  box: PixelBox,
  width: number,
  height: number,
  normalisation: Normalisation,
  out: Float32Array,
): void {
  assertInside(box, image);
  const plane = width * height;
  if (out.length !== 3 * plane) {
    throw new RangeError(`out has ${out.length} values, expected ${3 * plane} (3 x ${height} x ${width})`);
  }
  resample(image, box, width, height, levels(normalisation), out);
}

/** @returns [3, 256]: the normalised value of each of the 256 levels per channel */
function levels({ mean, std }: Normalisation): Float32Array {
  const values = new Float32Array(3 * 256);
  for (let i = 0; i < values.length; i++) {
    const channel = (i >> 8) as 0 | 1 | 2;
    values[i] = ((i & 255) / 255 - mean[channel]) / std[channel];
  }
  return values;
}

/** Distance in pixels by which rounding of fractional coordinates may move a box out of the image. */
const ROUNDING = 1e-3;

function assertInside(box: PixelBox, image: RgbImage): void {
  const { x, y, width, height } = box;
  const inside =
    x >= -ROUNDING &&
    y >= -ROUNDING &&
    width > 0 &&
    height > 0 &&
    x + width <= image.width + ROUNDING &&
    y + height <= image.height + ROUNDING;
  if (!inside) {
    throw new RangeError(
      `box ${[x, y, width, height].join(', ')} (x, y, width, height) is empty or leaves the ` +
        `${image.width}x${image.height} image`,
    );
  }
}
