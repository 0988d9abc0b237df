/** Decoded pictures as planes of brightness and colour (YCbCr, 8 bits, full range, colour at half the size). Pure. */
import type { Preview, RgbImage, Size } from '../../base/images.js';
import { halvePlane } from '../../base/preview-loops.js';

/** Sides of the two planes of colour. */
const half = ({ width, height }: Size): Size => ({ width: Math.ceil(width / 2), height: Math.ceil(height / 2) });

/** @returns bytes of the three planes of a picture, one after the other, as ffmpeg writes `yuvj420p` */
export function planesLength(size: Size): number {
  const colour = half(size);
  return size.width * size.height + 2 * colour.width * colour.height;
}

/** @returns bytes of a preview: luma, and both planes of colour at half its width and height, rounded down */
export const previewLength = ({ width, height }: Size): number =>
  width * height + 2 * Math.floor(width / 2) * Math.floor(height / 2);

/**
 * @param planes of a picture of `source` px
 * @param preview size; the sides of `source` are about `ratio` times as long
 * @param ratio power of 2
 * @param out for `previewLength` bytes
 */
export function previewOf(planes: Uint8Array, source: Size, preview: Size, ratio: number, out: Uint8Array): Preview {
  const colour = half(source);
  const [width, height] = [Math.floor(preview.width / 2), Math.floor(preview.height / 2)];
  const [blueAt, redAt] = [preview.width * preview.height, preview.width * preview.height + width * height];
  const luma = out.subarray(0, blueAt);
  const blue = out.subarray(blueAt, redAt);
  const red = out.subarray(redAt, redAt + width * height);
  const pixels = source.width * source.height;
  const side = colour.width * colour.height;
  reduce(planes.subarray(0, pixels), source.width, ratio, preview, luma);
  reduce(planes.subarray(pixels, pixels + side), colour.width, ratio, { width, height }, blue);
  reduce(planes.subarray(pixels + side, pixels + 2 * side), colour.width, ratio, { width, height }, red);
  return { ...preview, luma, chroma: { blue, red }, source };
}

/** Means of squares of `ratio` pixels; the right and lower rest is left out. */
function reduce(plane: Uint8Array, stride: number, ratio: number, { width, height }: Size, out: Uint8Array): void {
  if (ratio === 2) {
    // The usual case.
    halvePlane(plane, stride, { width, height }, out);
    return;
  }
  const rounding = (ratio * ratio) >> 1;
  const shift = 2 * Math.log2(ratio);
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      let sum = rounding;
      for (let v = 0; v < ratio; v++) {
        const at = (row * ratio + v) * stride + column * ratio;
        for (let u = 0; u < ratio; u++) sum += plane[at + u] as number;
      }
      out[i] = sum >> shift;
    }
  }
}

/** Shares of red and blue in the brightness, by the name of the matrix in ffprobe; others are ITU-R BT.601. */
const SHARES: Readonly<Record<string, readonly [red: number, blue: number]>> = {
  bt709: [0.2126, 0.0722],
  bt2020nc: [0.2627, 0.0593],
  smpte240m: [0.212, 0.087],
};
const BT601 = [0.299, 0.114] as const;
/** Fixed point: the coefficients are multiples of 2^-16. */
const SHIFT = 16;

/** @param matrix of the video stream, as ffprobe names it */
export function rgbOf(planes: Uint8Array, { width, height }: Size, matrix: string): RgbImage {
  const [r, b] = SHARES[matrix] ?? BT601;
  const g = 1 - r - b;
  const fixed = (value: number) => Math.round(value * 2 ** SHIFT);
  const [toRed, toBlue] = [fixed(2 * (1 - r)), fixed(2 * (1 - b))];
  const [blueToGreen, redToGreen] = [fixed((2 * b * (1 - b)) / g), fixed((2 * r * (1 - r)) / g)];
  const colour = half({ width, height });
  const blueAt = width * height;
  const redAt = blueAt + colour.width * colour.height;
  const data = new Uint8ClampedArray(3 * width * height);
  for (let y = 0, i = 0, to = 0; y < height; y++) {
    const row = (y >> 1) * colour.width;
    for (let x = 0; x < width; x++, i++, to += 3) {
      const luma = planes[i] as number;
      const blue = (planes[blueAt + row + (x >> 1)] as number) - 128;
      const red = (planes[redAt + row + (x >> 1)] as number) - 128;
      data[to] = luma + ((toRed * red) >> SHIFT);
      data[to + 1] = luma - ((blueToGreen * blue + redToGreen * red) >> SHIFT);
      data[to + 2] = luma + ((toBlue * blue) >> SHIFT);
    }
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}
