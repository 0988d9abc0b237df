/**
 * Decoder of previews: a frame at reduced size in grey, for the rule of quiet frames. A JPEG is reduced by its decoder,
 * which takes a fraction of the time of decoding all pixels.
 */
import type { Preview } from '../images.js';
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
  const luma = new Uint8Array(width * height);
  for (let i = 0, from = 0; i < luma.length; i++, from += 3) {
    // ITU-R BT.601 in 256ths
    luma[i] = (77 * (data[from] as number) + 150 * (data[from + 1] as number) + 29 * (data[from + 2] as number)) >> 8;
  }
  const chroma = chromaOf(data, luma, width, height);
  return { width, height, luma, chroma, source: { width: sourceWidth, height: sourceHeight } };
}

/** Means of two by two pixels; 128 is no colour. */
function chromaOf(rgb: Uint8Array, luma: Uint8Array, width: number, height: number) {
  const [columns, rows] = [Math.floor(width / 2), Math.floor(height / 2)];
  const [blue, red] = [new Uint8Array(columns * rows), new Uint8Array(columns * rows)];
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const at = 2 * row * width + 2 * column;
      const below = at + width;
      const [a, b, c, d] = [3 * at, 3 * at + 3, 3 * below, 3 * below + 3];
      const sum =
        (luma[at] as number) + (luma[at + 1] as number) + (luma[below] as number) + (luma[below + 1] as number);
      const reds = (rgb[a] as number) + (rgb[b] as number) + (rgb[c] as number) + (rgb[d] as number);
      const blues = (rgb[a + 2] as number) + (rgb[b + 2] as number) + (rgb[c + 2] as number) + (rgb[d + 2] as number);
      // 0.564 and 0.713 of the difference to the luma (BT.601), in 1024ths of four pixels
      blue[i] = 128 + ((144 * (blues - sum)) >> 10);
      red[i] = 128 + ((182 * (reds - sum)) >> 10);
    }
  }
  return { blue, red };
}

/** @param width of the upright frame, px @returns the reduction of both sides: 1, 2, 4 or 8 */
export function previewReduction(width: number): number {
  let reduction = 1;
  while (reduction < MOST_REDUCTION && width / (2 * reduction) >= LEAST_WIDTH) reduction *= 2;
  return reduction;
}
