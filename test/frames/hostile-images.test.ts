/** Images of few bytes whose decoding costs much time or memory. */
import sharp from 'sharp';
import { type DecodeOptions, decodeFrame, withFullSize } from '../../src/frames/decode.js';
import { expectedDecoderBytes, withDecoderMemory } from '../../src/frames/decoder-memory.js';
import { frameSize } from '../../src/frames/header.js';
import { gifOfImages, jpegOfScans, solidPng, tiffOfPages, webpOfImages } from '../hostile/lib/encoders.mjs';
import { scene } from './pictures.js';

const OPTIONS: DecodeOptions = { field: 'after', pixelLimit: 50_000_000 };
const MiB = 1024 * 1024;
const decodeFullSize = (bytes: Uint8Array, options: DecodeOptions) =>
  withFullSize(bytes, options, async (image) => image);

describe('decodeFrame refuses by the header', () => {
  it.each<[string, () => Buffer, string]>([
    ['a JPEG of 800 scans', () => jpegOfScans(2000, 2000, 800), 'more than 100 scans, expected at most 100'],
    ['a GIF of a million images', () => gifOfImages(64, 64, 1_000_000), 'more than 1000 images'],
    ['a WebP of 300,000 images', () => webpOfImages(64, 64, 300_000), 'more than 1000 images'],
    ['a TIFF of 100,000 pages', () => tiffOfPages(64, 64, 100_000), 'more than 1000 pages'],
  ])('%s', async (_, make, message) => {
    for (const decode of [decodeFrame, decodeFullSize]) {
      const error = await decode(make(), OPTIONS).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'image-too-large', field: 'after', permanent: true });
      expect((error as Error).message).toContain(message);
    }
  });

  it('a TIFF whose pages form a circle', async () => {
    const tiff = tiffOfPages(64, 64, 2);
    const directoryBytes = 2 + 11 * 12 + 4;
    tiff.writeUInt32LE(8, 8 + 2 * directoryBytes - 4);
    await expect(decodeFrame(tiff, OPTIONS)).rejects.toMatchObject({ code: 'image-too-large' });
  });

  it.each([
    [16, 3_000],
    [3_000, 16],
  ])('a strip of %d x %d px', async (width, height) => {
    for (const decode of [decodeFrame, decodeFullSize]) {
      const error = await decode(solidPng(width, height), OPTIONS).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'image-too-small', field: 'after' });
      expect((error as Error).message).toContain(
        `${width}x${height} px, expected a longer side of at most 100 times the shorter one`,
      );
    }
  });

  it('a side that is longer than a masked frame can be', async () => {
    const error = await decodeFullSize(solidPng(70_000, 701), OPTIONS).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'image-too-large', field: 'after' });
    expect((error as Error).message).toContain('expected at most 65500 px on each side');
  });

  it('an interlaced PNG that is larger than the limit of its kind, and no other PNG of that size', async () => {
    const wide = (interlaced: boolean) => solidPng(4200, 4200, { interlaced, depth: 16 });
    await expect(decodeFrame(wide(true), OPTIONS)).rejects.toMatchObject({
      code: 'image-too-large',
      message: 'after: the image has 4200x4200 px, expected at most 16777216 px in all (interlaced PNG)',
    });
    expect(await frameSize(wide(false), OPTIONS)).toEqual({ width: 4200, height: 4200 });
  });

  it('an AVIF that is larger than the limit of its format', async () => {
    const create = { width: 4200, height: 4200, channels: 3, background: '#333' } as const;
    const avif = await sharp({ create }).avif({ effort: 0 }).toBuffer();
    await expect(decodeFrame(avif, OPTIONS)).rejects.toMatchObject({
      code: 'image-too-large',
      message: 'after: the image has 4200x4200 px, expected at most 16777216 px in all (AVIF)',
    });
  });
});

describe('decodeFrame accepts', () => {
  it.each<[string, () => Buffer, number, number]>([
    ['a JPEG of 100 scans', () => jpegOfScans(640, 480, 100), 640, 480],
    ['a GIF of 1000 images', () => gifOfImages(64, 48, 1000), 64, 48],
    ['a WebP of 1000 images', () => webpOfImages(64, 48, 1000), 64, 48],
    ['a TIFF of 1000 pages', () => tiffOfPages(64, 48, 1000), 64, 48],
    ['an interlaced PNG of 16 bit', () => solidPng(101, 99, { interlaced: true, depth: 16 }), 101, 99],
  ])('%s', async (_, make, width, height) => {
    expect(await decodeFrame(make(), OPTIONS)).toMatchObject({ width, height });
  });

  it('a JPEG of 50 Mpx, as some cameras make', async () => {
    const jpeg = await scene(8660, 5773).jpeg().toBuffer();
    expect(await decodeFrame(jpeg, OPTIONS)).toMatchObject({ sourceWidth: 8660, sourceHeight: 5773 });
  });

  it('a JPEG whose EXIF data has the bytes of many scans', async () => {
    const jpeg = await scene(64, 48).jpeg().toBuffer();
    const scans = Buffer.alloc(2000, Buffer.from([0xff, 0xda]));
    const segment = Buffer.concat([Buffer.from([0xff, 0xe5, 0x07, 0xd2]), scans]);
    const bytes = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
    expect(await decodeFrame(bytes, OPTIONS)).toMatchObject({ width: 64 });
  });
});

it('an image that is not decoded within DECODE_TIMEOUT is refused for good', async () => {
  // 268 Mpx of 16 bit: far more than any processor decodes in a second.
  const png = solidPng(16_384, 16_384, { depth: 16, colourType: 6 });
  const error = await decodeFrame(png, { ...OPTIONS, pixelLimit: 300_000_000, decodeTimeout: 1 }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'processing-timeout', field: 'after', permanent: true });
  expect((error as Error).message).toBe('after: the image was not decoded within 1 s (DECODE_TIMEOUT)');
});

describe('the memory of decoders', () => {
  /** @returns the largest number that ran at once */
  async function mostAtOnce(bytes: number, times: number): Promise<number> {
    let [running, most] = [0, 0];
    const decode = async () => {
      most = Math.max(most, ++running);
      await new Promise((done) => setTimeout(done, 5));
      running--;
    };
    await Promise.all(Array.from({ length: times }, () => withDecoderMemory(bytes, decode)));
    return most;
  }

  it('admits one large image at a time, also one above the budget, and many small ones', async () => {
    expect(await mostAtOnce(400 * MiB, 8)).toBe(1);
    expect(await mostAtOnce(4000 * MiB, 3)).toBe(1);
    expect(await mostAtOnce(20 * MiB, 8)).toBe(8);
  });

  it('goes to others after a decoder has failed', async () => {
    const failed = withDecoderMemory(400 * MiB, () => Promise.reject(new Error('damaged')));
    await expect(failed).rejects.toThrow('damaged');
    expect(await mostAtOnce(400 * MiB, 1)).toBe(1);
  });

  it.each<[string, () => Promise<Buffer> | Buffer, number]>([
    ['a JPEG, whose lines are decoded one after the other', () => scene(4000, 3000).jpeg().toBuffer(), 1],
    ['a progressive JPEG', () => scene(4000, 3000).jpeg({ progressive: true }).toBuffer(), 6],
    ['a PNG', () => solidPng(4000, 3000), 1],
    ['an interlaced PNG of 16 bit', () => solidPng(4000, 3000, { depth: 16, interlaced: true }), 6],
    ['an AVIF', () => scene(1000, 1000).avif({ effort: 0 }).toBuffer(), 15],
  ])('is estimated for %s', async (_, make, bytesPerPixel) => {
    const metadata = await sharp(await make()).metadata();
    const expected = expectedDecoderBytes(metadata, { fullSize: false }) - 16 * MiB;
    const pixels = metadata.width * metadata.height;
    if (bytesPerPixel === 1) expect(expected).toBe(0);
    else expect(expected).toBeGreaterThanOrEqual(bytesPerPixel * pixels);
  });
});
