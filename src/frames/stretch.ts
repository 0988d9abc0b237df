/** Pictures at another size or shape: recorders stretch 16:9 to 4:3, or halve one side. */
import type { RgbImage, Size } from '../base/images.js';
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
