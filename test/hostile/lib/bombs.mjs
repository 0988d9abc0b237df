/** Bombs: small images whose decoding costs much time or memory, in every format. */
import { gifOfImages, jpegOfInks, jpegOfScans, pngChunk, solidPng, tiffOfPages, webpOfImages } from './encoders.mjs';

/** Images of the image library itself, which take seconds to make: each is made once per run. */
const MADE = {
  'avif 7000x7000': (solid) => solid(7000, 7000).avif({ effort: 0 }),
  'avif 4096x4096': (solid) => solid(4096, 4096).avif({ effort: 0 }),
  'jpeg 7000x7000 progressive': (solid) => solid(7000, 7000).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }),
  'jpeg 7000x7000 turned': (solid) => solid(7000, 7000).withMetadata({ orientation: 6 }).jpeg(),
  'webp 7000x7000': (solid) => solid(7000, 7000).webp(),
  'webp 7000x7000 lossless': (solid) => solid(7000, 7000).webp({ lossless: true }),
  'gif 7000x7000': (solid) => solid(7000, 7000).gif(),
  'tiff 7000x7000 tiles': (solid) => solid(7000, 7000).tiff({ compression: 'deflate', tile: true }),
};
const made = new Map();

async function library(name) {
  if (!made.has(name)) {
    const { default: sharp } = await import('sharp');
    const solid = (width, height) =>
      sharp({ create: { width, height, channels: 3, background: '#333' }, limitInputPixels: false });
    made.set(name, await MADE[name](solid).toBuffer());
  }
  return made.get(name);
}

/** Name and maker of each bomb. */
export const BOMBS = {
  ...Object.fromEntries(Object.keys(MADE).map((name) => [name, () => library(name)])),
  'jpeg 7000x7000 CMYK': () => jpegOfInks(7000, 7000),
  'png 7000x7000': () => solidPng(7000, 7000),
  'png 7000x7000 of 1 bit': () => solidPng(7000, 7000, { depth: 1, colourType: 0 }),
  'png 7000x7000 grey': () => solidPng(7000, 7000, { colourType: 0 }),
  'png 7000x7000 RGBA of 16 bit': () => solidPng(7000, 7000, { depth: 16, colourType: 6 }),
  'png 7000x7000 interlaced': () => solidPng(7000, 7000, { interlaced: true }),
  'png 7000x7000 interlaced RGBA of 16 bit': () => solidPng(7000, 7000, { interlaced: true, depth: 16, colourType: 6 }),
  'png 16x3000000': () => solidPng(16, 3_000_000),
  'png 3000000x16': () => solidPng(3_000_000, 16),
  'png 50000x500': () => solidPng(50_000, 500),
  'png 70000x701': () => solidPng(70_000, 701),
  'png 500x50000': () => solidPng(500, 50_000),
  'png of a million columns and rows': () => solidPng(1_000_000, 1_000_000 / 8, { depth: 1, colourType: 0 }),
  'png with a compressed text of 200 MB': () =>
    solidPng(64, 64, { chunks: [compressedChunk('zTXt', Buffer.from('Comment\0\0'), 200_000_000)] }),
  'png with a colour profile of 200 MB': () =>
    solidPng(64, 64, { chunks: [compressedChunk('iCCP', Buffer.from('profile\0\0'), 200_000_000)] }),
  'png with 200,000 texts': () => solidPng(64, 64, { chunks: Array(200_000).fill(SHORT_TEXT) }),
  'jpeg 7000x7000 of 100 scans': () => jpegOfScans(7000, 7000, 100),
  'jpeg 7000x7000 of 880 scans': () => jpegOfScans(7000, 7000, 880),
  'jpeg 65500x760 of 90 scans': () => jpegOfScans(65_500, 760, 90),
  'gif of a million images': () => gifOfImages(64, 64, 1_000_000),
  'gif 7000x7000 of 1000 images': () => gifOfImages(7000, 7000, 1000),
  'webp of 300,000 images': () => webpOfImages(64, 64, 300_000),
  'webp 7000x7000 of 1000 images': () => webpOfImages(7000, 7000, 1000),
  'tiff of 130,000 pages': () => tiffOfPages(64, 64, 130_000),
  'tiff 7000x7000 in one strip': () => tiffOfPages(7000, 7000, 1),
  'tiff 7000x7000 RGBA of floats': () => tiffOfPages(7000, 7000, 1, { bits: 32, samples: 4, format: 3 }),
  'tiff 7000x7000 RGBA of 16 bit': () => tiffOfPages(7000, 7000, 1000, { bits: 16, samples: 4 }),
};

const SHORT_TEXT = pngChunk('tEXt', Buffer.from('Comment\0x'));
/** A chunk whose content is the compressed stream of a solid PNG, cut out of it. */
function compressedChunk(type, head, bytes) {
  const png = solidPng(1_000_000, Math.ceil(bytes / 1_000_000), { colourType: 0 });
  const start = png.indexOf('IDAT');
  const length = png.readUInt32BE(start - 4);
  return pngChunk(type, Buffer.concat([head, png.subarray(start + 4, start + 4 + length)]));
}
