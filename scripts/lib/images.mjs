/** Images in memory, `{ width, height, data }` with 8-bit RGB: reading, coding and scaling with sharp. */
import sharp from 'sharp';

const raw = ({ width, height, data }) => sharp(data, { raw: { width, height, channels: 3 } });

async function pixels(image) {
  const { data, info } = await image.removeAlpha().toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** @param {Uint8Array | string} source encoded image, or its path @returns at most `width` pixels wide */
export const load = (source, width) =>
  pixels(sharp(source).autoOrient().resize({ width, withoutEnlargement: true, kernel: 'linear' }));

export const jpeg = async (image, quality, chromaSubsampling = '4:2:0') =>
  pixels(sharp(await raw(image).jpeg({ quality, chromaSubsampling }).toBuffer()));
/** sharp's blur begins at 0.3 px, and less is invisible. */
export const blur = (image, sigma) => pixels(raw(image).blur(Math.max(0.3, sigma)));

export const resized = async (image, { width, height }) =>
  image.width === width && image.height === height ? image : pixels(raw(image).resize(width, height, { fit: 'fill' }));

export function crop(image, left, top, width, height) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * image.width + left) * 3;
    data.set(image.data.subarray(from, from + width * 3), y * width * 3);
  }
  return { width, height, data };
}
