/**
 * Decoder of previews: a frame at reduced size in grey, for the rule of quiet frames. A JPEG is reduced by its decoder,
 * which takes a fraction of the time of decoding all pixels.
 */
import type { Preview } from '../base/images.js';
import { type DecodeOptions, decodeReduced } from './decode.js';

/** px; a preview is at least this wide, unless the frame itself is narrower */
const LEAST_WIDTH = 480;
/** The most that a JPEG decoder can reduce by itself. */
const MOST_REDUCTION = 8;

/**
 * Decodes a frame at 1/1, 1/2, 1/4 or 1/8 of its size: the smallest that is at least 480 px wide (480 x 270 for 1080p).
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function decodePreview(bytes: Uint8Array, options: Omit<DecodeOptions, 'allocate'>): Promise<Preview> {
  const { width, height, data, sourceWidth, sourceHeight } = await decodeReduced(bytes, previewReduction, options);
  return { width, height, ...planesOf(data, width, height), source: { width: sourceWidth, height: sourceHeight } };
}

/** ITU-R BT.601 in 256ths */
const lumaOf = (red: number, green: number, blue: number): number => (77 * red + 150 * green + 29 * blue) >> 8;

/** Luma, and chroma as means of two by two pixels; 128 is no colour. Each pixel is read once. */
function planesOf(rgb: Uint8Array, width: number, height: number): Pick<Preview, 'luma' | 'chroma'> {
  const [columns, rows] = [width >> 1, height >> 1];
  const luma = new Uint8Array(width * height);
  const [blue, red] = [new Uint8Array(columns * rows), new Uint8Array(columns * rows)];
  /** @returns the luma of pixel `i`, which it writes */
  const write = (i: number): number => {
    const at = 3 * i;
    const level = lumaOf(rgb[at] as number, rgb[at + 1] as number, rgb[at + 2] as number);
    luma[i] = level;
    return level;
  };
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const top = 2 * row * width + 2 * column;
      const below = top + width;
      const sum = write(top) + write(top + 1) + write(below) + write(below + 1);
      const [a, b] = [3 * top, 3 * below];
      const reds = (rgb[a] as number) + (rgb[a + 3] as number) + (rgb[b] as number) + (rgb[b + 3] as number);
      const blues = (rgb[a + 2] as number) + (rgb[a + 5] as number) + (rgb[b + 2] as number) + (rgb[b + 5] as number);
      // 0.564 and 0.713 of the difference to the luma (BT.601), in 1024ths of four pixels
      blue[i] = 128 + ((144 * (blues - sum)) >> 10);
      red[i] = 128 + ((182 * (reds - sum)) >> 10);
    }
  }
  if (width % 2 === 1) for (let i = width - 1; i < luma.length; i += width) write(i);
  if (height % 2 === 1) for (let i = luma.length - width; i < luma.length; i++) write(i);
  return { luma, chroma: { blue, red } };
}

/** @param width of the upright frame, px @returns the reduction of both sides: 1, 2, 4 or 8 */
export function previewReduction(width: number): number {
  let reduction = 1;
  while (reduction < MOST_REDUCTION && width / (2 * reduction) >= LEAST_WIDTH) reduction *= 2;
  return reduction;
}
