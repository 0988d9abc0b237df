/**
 * Decoder of previews: a frame at reduced size in grey, for the rule of quiet frames. A JPEG is reduced by its decoder,
 * which takes a fraction of the time of decoding all pixels.
 */
import type { Preview } from '../base/images.js';
import { planesOfRgb } from '../base/preview-loops.js';
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
  return {
    width,
    height,
    ...planesOfRgb(data, { width, height }),
    source: { width: sourceWidth, height: sourceHeight },
  };
}

/** @param width of the upright frame, px @returns the reduction of both sides: 1, 2, 4 or 8 */
export function previewReduction(width: number): number {
  let reduction = 1;
  while (reduction < MOST_REDUCTION && width / (2 * reduction) >= LEAST_WIDTH) reduction *= 2;
  return reduction;
}
