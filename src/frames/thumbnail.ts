/** Small pictures of frames, for lists. */
import { type DecodeLimits, decodeToFit } from './decode.js';
import sharp from './sharp.js';

/** px of the longer side: a card of the console on a screen with two device pixels per pixel */
const LONGEST_SIDE = 480;
const QUALITY = 75;

/**
 * @param bytes an encoded frame, masked if its camera has privacy zones
 * @returns it as a JPEG of 20 to 40 kB, no side longer than 480 px
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function thumbnail(
  bytes: Uint8Array,
  options: DecodeLimits & { readonly field: string },
): Promise<Buffer> {
  const { data, width, height } = await decodeToFit(bytes, LONGEST_SIDE, options);
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer();
}
