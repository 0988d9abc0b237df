/** Encoder of grey pictures with a floating-point number per pixel, which sharp cannot write. */

const FLOAT = 3;
const BITS = 32;

/**
 * @param grey row by row; any number, infinite ones and NaN included
 * @returns an uncompressed little-endian TIFF 6.0 of one strip
 */
export function tiffOf({
  width,
  height,
  levels,
}: {
  readonly width: number;
  readonly height: number;
  readonly levels: Float32Array;
}): Buffer {
  const entries = 10;
  const pixelsAt = 8 + 2 + entries * 12 + 4;
  const file = Buffer.alloc(pixelsAt + levels.length * 4);
  file.write('II*\0', 'latin1');
  file.writeUInt32LE(8, 4);
  file.writeUInt16LE(entries, 8);
  const tags = [
    [256, width],
    [257, height],
    [258, BITS],
    [259, 1], // no compression
    [262, 1], // black is zero
    [273, pixelsAt],
    [277, 1], // samples per pixel
    [278, height], // rows of the strip
    [279, levels.length * 4],
    [339, FLOAT],
  ] as const;
  for (const [i, [tag, value]] of tags.entries()) {
    const at = 10 + i * 12;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(4, at + 2); // a number of 32 bits
    file.writeUInt32LE(1, at + 4);
    file.writeUInt32LE(value, at + 8);
  }
  for (const [i, level] of levels.entries()) file.writeFloatLE(level, pixelsAt + i * 4);
  return file;
}
