/** Pictures of one view in two shapes: recorders stretch 16:9 to 4:3, or halve one side. */
import { type RgbImage, type Size, sameAspectRatio } from '../base/images.js';
import { decodeFrame, workingSize } from './decode.js';
import type { EncodedPair } from './deep-grey.js';
import { type DecodeLimits, frameSize } from './header.js';
import { sourceSize } from './pair.js';
import sharp from './sharp.js';

/** High enough that the coding adds nothing that resembles a change. */
const QUALITY = 95;

const raw = ({ data, width, height }: RgbImage) => sharp(data, { raw: { width, height, channels: 3 } });

/** @returns the picture at another size, without regard to its shape */
export async function stretched(image: RgbImage, { width, height }: Size): Promise<RgbImage> {
  const data = await raw(image).resize(width, height, { fit: 'fill' }).raw().toBuffer();
  return { width, height, data };
}

/** @returns the picture as a JPEG */
export const codedFrame = (image: RgbImage): Promise<Uint8Array> =>
  raw(image).jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' }).toBuffer();

/**
 * @returns the pair with `after` in the shape of `before`, then without the key and the pixels of `after`, and with its
 *   upright size before; a picture with missing rows stays unchanged
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function pairInOneShape<P extends EncodedPair>(
  pair: P,
  limits: DecodeLimits,
): Promise<{ readonly pair: P; readonly stretchedFrom: Size | null }> {
  const before = await frameSize(pair.before, { ...limits, field: 'before' });
  const present = pair.afterDecoded ?? null;
  const after = present ? sourceSize(present) : await frameSize(pair.after, { ...limits, field: 'after' });
  if (sameAspectRatio(before, after)) return { pair, stretchedFrom: null };
  const decoded = present ?? (await decodeFrame(pair.after, { ...limits, field: 'after' }));
  if (decoded.lost !== null) return { pair, stretchedFrom: null };
  const { afterKey: _key, afterDecoded: _decoded, ...rest } = pair;
  const coded = await codedFrame(await stretched(decoded, workingSize(before)));
  return { pair: { ...rest, after: coded } as P, stretchedFrom: after };
}
