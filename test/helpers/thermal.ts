/** Pictures of thermal cameras: one level per pixel, as 16-bit PNG or TIFF, or as TIFF of floating point. */
import sharp from 'sharp';

export const COLUMNS = 64;
export const ROWS = 48;

/** A scene with grain about `level`, and a block of 8 x 10 px that is `hotter` by some levels. */
export const levelsOf = ({ level = 29_500, grain = 200, hotter = 0 } = {}): Float32Array =>
  Float32Array.from({ length: COLUMNS * ROWS }, (_, i) => {
    const [x, y] = [i % COLUMNS, Math.floor(i / COLUMNS)];
    const isHot = x >= 20 && x < 28 && y >= 10 && y < 20;
    return level + (((i * 7919) % 97) / 97 - 0.5) * grain + (isHot ? hotter : 0);
  });

const of16Bit = (levels: Float32Array) =>
  sharp(Uint16Array.from(levels), {
    raw: { width: COLUMNS, height: ROWS, channels: 1 },
  }).toColourspace('grey16');

export const png16 = (levels: Float32Array): Promise<Buffer> => of16Bit(levels).png().toBuffer();
export const tiff16 = (levels: Float32Array): Promise<Buffer> =>
  of16Bit(levels).tiff({ compression: 'none' }).toBuffer();
export const png16WithAlpha = (levels: Float32Array): Promise<Buffer> =>
  sharp(
    Uint16Array.from({ length: 2 * levels.length }, (_, i) => (i % 2 === 0 ? (levels[i / 2] as number) : 65_535)),
    {
      raw: { width: COLUMNS, height: ROWS, channels: 2 },
    },
  )
    .toColourspace('grey16')
    .png()
    .toBuffer();

/** A TIFF of 32-bit numbers, which sharp cannot write. */
export function tiffOfFloats(levels: Float32Array, orientation = 1): Buffer {
  const pixels = Buffer.from(Uint8Array.from(new Uint8Array(levels.buffer)));
  const tags = [
    [256, COLUMNS],
    [257, ROWS],
    [258, 32], // bits per sample
    [259, 1], // no compression
    [262, 1], // black is zero
    [273, 0], // offset of the pixels, set below
    [274, orientation],
    [277, 1], // samples per pixel
    [278, ROWS], // rows per strip
    [279, pixels.length],
    [339, 3], // floating point
  ] as const;
  const head = Buffer.alloc(8 + 2 + tags.length * 12 + 4);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(tags.length, 8);
  for (const [i, [tag, value]] of tags.entries()) {
    const at = 10 + i * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(4, at + 2);
    head.writeUInt32LE(1, at + 4);
    head.writeUInt32LE(tag === 273 ? head.length : value, at + 8);
  }
  return Buffer.concat([head, pixels]);
}
