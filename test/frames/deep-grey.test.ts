/** Deep grey: pictures of thermal cameras as levels, and the one range by which they become eight bits. */
import sharp from 'sharp';
import { decodeFrame } from '../../src/frames/decode.js';
import { inEightBits, pairInEightBits, rangeOf, readDeepGrey } from '../../src/frames/deep-grey.js';
import { COLUMNS, levelsOf, png16, png16WithAlpha, ROWS, tiff16, tiffOfFloats } from '../helpers/thermal.js';

const LIMITS = { pixelLimit: 1_000_000 };
const OPTIONS = { ...LIMITS, field: 'frame' };
const greyOf = async (bytes: Uint8Array) => [...(await sharp(bytes).toColourspace('b-w').raw().toBuffer())];
const celsius = (given: Parameters<typeof levelsOf>[0] = {}) => levelsOf({ level: 21, grain: 4, ...given });

describe('A picture of deep grey', () => {
  it.each([
    ['PNG of 16 bits', () => png16(levelsOf()), Math.trunc(levelsOf()[70] as number)],
    ['TIFF of 16 bits', () => tiff16(levelsOf()), Math.trunc(levelsOf()[70] as number)],
    ['TIFF of floating point', async () => tiffOfFloats(celsius()), celsius()[70]],
    ['TIFF of numbers below zero', async () => tiffOfFloats(celsius({ level: -21 })), celsius({ level: -21 })[70]],
    ['TIFF of tiny numbers', async () => tiffOfFloats(celsius({ level: 1e-3, grain: 1e-4 })), undefined],
    ['PNG of 16 bits with alpha', () => png16WithAlpha(levelsOf()), Math.trunc(levelsOf()[70] as number)],
  ])('%s has its levels, which become black to white', async (_, make, level) => {
    const read = await readDeepGrey(await make(), OPTIONS);
    if (read === null) throw new Error('it was not read as deep grey');
    expect([read.width, read.height, read.levels.length]).toEqual([COLUMNS, ROWS, COLUMNS * ROWS]);
    if (level !== undefined) expect(read.levels[70]).toBeCloseTo(level, 4);
    const grey = await greyOf(await inEightBits(read, rangeOf(read)));
    expect([Math.min(...grey), Math.max(...grey)]).toEqual([0, 255]);
    expect(new Set(grey).size).toBeGreaterThan(80);
  });

  it('is turned upright', async () => {
    const read = await readDeepGrey(tiffOfFloats(celsius(), 6), OPTIONS);
    expect([read?.width, read?.height]).toEqual([ROWS, COLUMNS]);
  });

  it('may have pixels without a number: they count nothing, and are black', async () => {
    const levels = celsius();
    levels.set([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    const read = await readDeepGrey(tiffOfFloats(levels), OPTIONS);
    if (read === null) throw new Error('it was not read as deep grey');
    const { low, high } = rangeOf(read);
    expect([low > 18, high < 24]).toEqual([true, true]);
    expect((await greyOf(await inEightBits(read, { low, high }))).slice(0, 3)).toEqual([0, 255, 0]);
  });

  it('of one level, or of the noise of a sensor, keeps a range that shows no noise', async () => {
    for (const grain of [0, 4]) {
      const read = await readDeepGrey(await png16(levelsOf({ grain })), OPTIONS);
      if (read === null) throw new Error('it was not read as deep grey');
      const grey = await greyOf(await inEightBits(read, rangeOf(read)));
      expect(Math.max(...grey) - Math.min(...grey)).toBeLessThan(20);
    }
  });

  it.each([
    ['PNG of 8 bits', () => sharp(Buffer.alloc(64 * 64, 9), { raw: { width: 64, height: 64, channels: 1 } }).png()],
    ['TIFF of 8 bits', () => sharp(Buffer.alloc(64 * 64, 9), { raw: { width: 64, height: 64, channels: 1 } }).tiff()],
    [
      'PNG of 16-bit colour',
      () =>
        sharp(Buffer.alloc(64 * 64 * 3), { raw: { width: 64, height: 64, channels: 3 } })
          .toColourspace('rgb16')
          .png(),
    ],
    ['JPEG', () => sharp(Buffer.alloc(64 * 64 * 3), { raw: { width: 64, height: 64, channels: 3 } }).jpeg()],
  ])('is no %s', async (_, make) => {
    expect(await readDeepGrey(await make().toBuffer(), OPTIONS)).toBeNull();
  });

  it('of more than 4 Mpx is left to the decoder', async () => {
    const [width, height] = [2049, 2048];
    const large = sharp(new Uint16Array(width * height), { raw: { width, height, channels: 1 } });
    const bytes = await large.toColourspace('grey16').png({ compressionLevel: 1 }).toBuffer();
    expect(await readDeepGrey(bytes, { ...OPTIONS, pixelLimit: 50_000_000 })).toBeNull();
  });

  it('that is damaged is refused with its name', async () => {
    const bytes = await png16(levelsOf());
    const cut = bytes.subarray(0, bytes.length - 900);
    await expect(readDeepGrey(cut, OPTIONS)).rejects.toMatchObject({ code: 'image-unreadable', field: 'frame' });
  });
});

describe('A pair', () => {
  it('of deep grey gets one range: what stays has one grey, and a hot thing is brighter', async () => {
    const [before16, after16] = [await png16(levelsOf()), await png16(levelsOf({ hotter: 900 }))];
    const afterDecoded = await decodeFrame(after16, { ...LIMITS, field: 'after' });
    const pair = { before: before16, after: after16, beforeKey: 'a', afterDecoded };
    const made = await pairInEightBits(pair, LIMITS);
    const [before, after] = [await greyOf(made.before), await greyOf(made.after)];
    const differing = before.flatMap((grey, i) => (grey === after[i] ? [] : [(after[i] as number) - grey]));
    expect(differing).toHaveLength(80);
    expect(Math.min(...differing)).toBeGreaterThan(100);
    expect(Object.keys(made).sort()).toEqual(['after', 'before']);
  });

  it('of other pictures is unaltered', async () => {
    const pair = { before: Buffer.from([0xff, 0xd8]), after: Buffer.from('GIF89a'), beforeKey: 'a' };
    expect(await pairInEightBits(pair, LIMITS)).toBe(pair);
  });
});
