/** How bright a part of an encoded picture is. */
import sharp from 'sharp';
import type { Box } from '../../src/base/images.js';

/** @param part in fractions of the picture @returns the highest level of any channel, 0 to 255 */
export async function brightest(bytes: Uint8Array, part: Box): Promise<number> {
  const { width, height } = await sharp(bytes).metadata();
  const area = {
    left: Math.round(part.x * width),
    top: Math.round(part.y * height),
    width: Math.floor(part.width * width),
    height: Math.floor(part.height * height),
  };
  const { channels } = await sharp(await sharp(bytes).extract(area).png().toBuffer()).stats();
  return Math.max(...channels.map(({ max }) => max));
}
