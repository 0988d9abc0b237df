import sharp from 'sharp';
import type { Side } from '../../src/base/images.js';
import { type DecodedFrame, decodeFrame, withFullSize } from '../../src/frames/decode.js';
import { noisy, pixels, pngHeader, scene } from './pictures.js';

const decode = (bytes: Uint8Array, field: Side = 'before', pixelLimit = 50_000_000): Promise<DecodedFrame> =>
  decodeFrame(bytes, { field, pixelLimit });

const at = (frame: DecodedFrame, x: number, y: number): number[] => [
  ...frame.data.subarray((y * frame.width + x) * 3, (y * frame.width + x) * 3 + 3),
];
/** @param tolerance in levels, for lossy formats and colour conversions */
function expectColour(actual: number[], expected: readonly number[], tolerance: number): void {
  expect(actual).toHaveLength(3);
  actual.forEach((value, i) => {
    expect(Math.abs(value - (expected[i] as number))).toBeLessThanOrEqual(tolerance);
  });
}

const RED = [220, 40, 30] as const;
const corner = { x: 0, y: 0, width: 32, height: 32, colour: RED };
/** 64 x 48, dark, its upper left quarter red. */
const flag = () => scene(64, 48, [corner]);

describe('decodeFrame reads', () => {
  it.each([
    ['JPEG', () => flag().jpeg({ chromaSubsampling: '4:4:4' }), 6],
    ['PNG', () => flag().png(), 0],
    ['PNG with a palette', () => flag().png({ palette: true }), 6],
    ['WebP', () => flag().webp({ lossless: true }), 0],
    ['AVIF', () => flag().avif({ lossless: true }), 4],
    ['TIFF', () => flag().tiff({ compression: 'lzw' }), 0],
    ['GIF', () => flag().gif(), 6],
  ])('%s', async (_, encode, tolerance) => {
    const frame = await decode(await encode().toBuffer());
    expect([frame.width, frame.height, frame.data.length]).toEqual([64, 48, 64 * 48 * 3]);
    expectColour(at(frame, 10, 10), RED, tolerance);
    expectColour(at(frame, 50, 10), [50, 50, 50], tolerance);
  });

  it('16 bit PNG as 8 bit', async () => {
    const bytes = await flag().toColourspace('rgb16').png().toBuffer();
    expect((await sharp(bytes).metadata()).depth).toBe('ushort');
    expectColour(at(await decode(bytes), 10, 10), RED, 1);
  });

  it('CMYK JPEG as sRGB', async () => {
    const bytes = await flag().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
    expect((await sharp(bytes).metadata()).space).toBe('cmyk');
    expectColour(at(await decode(bytes), 10, 10), RED, 30);
  });

  it('a greyscale image as three equal channels', async () => {
    const bytes = await flag().toColourspace('b-w').png().toBuffer();
    expect((await sharp(bytes).metadata()).channels).toBe(1);
    expectColour(at(await decode(bytes), 50, 10), [50, 50, 50], 1);
  });

  it('transparent pixels, flattened on black', async () => {
    const half = scene(64, 48, [{ ...corner, width: 64, height: 48, colour: [200, 100, 60] }]).ensureAlpha(0.5);
    expectColour(at(await decode(await half.png().toBuffer()), 5, 5), [100, 50, 30], 2);
  });

  it('a greyscale image with alpha', async () => {
    const bytes = await flag().ensureAlpha(0.5).toColourspace('b-w').png().toBuffer();
    expect((await sharp(bytes).metadata()).channels).toBe(2);
    expectColour(at(await decode(bytes), 50, 10), [25, 25, 25], 2);
  });

  it.each([
    ['GIF', 'gif'],
    ['WebP', 'webp'],
  ] as const)('the first image of an animated %s', async (_, format) => {
    const both = Buffer.concat([pixels(64, 48, [corner]), pixels(64, 48, [], 250)]);
    const raw = { width: 64, height: 96, channels: 3, pageHeight: 48 } as const;
    const bytes = await sharp(both, { raw }).toFormat(format, { lossless: true }).toBuffer();
    expect((await sharp(bytes).metadata()).pages).toBe(2);
    const frame = await decode(bytes);
    expect([frame.width, frame.height]).toEqual([64, 48]);
    expectColour(at(frame, 50, 10), [50, 50, 50], 8);
  });

  it('an image with EXIF orientation upright', async () => {
    const bytes = await flag().withMetadata({ orientation: 6 }).png().toBuffer(); // 6: rotate clockwise
    const frame = await decode(bytes);
    expect([frame.width, frame.height]).toEqual([48, 64]);
    expect([frame.sourceWidth, frame.sourceHeight]).toEqual([48, 64]);
    expectColour(at(frame, 40, 10), RED, 0);
    expectColour(at(frame, 5, 10), [50, 50, 50], 0);
  });

  it.each([
    ['a frame of 1280 px at full size', 1280, 720, 1280, 720],
    ['a wider frame at half its size', 1920, 1080, 960, 540],
    ['a frame with odd sides at half its size', 1921, 1081, 960, 540],
    ['a very wide frame at an eighth of its size', 5200, 160, 650, 20],
    ['an upright frame at full size', 720, 1280, 720, 1280],
    ['a very tall frame at half its size', 300, 20_000, 150, 10_000],
  ])('%s', async (_, width, height, expectedWidth, expectedHeight) => {
    const blocks = [{ x: 0, y: 0, width: Math.floor(width / 2), height, colour: RED }];
    for (const format of ['jpeg', 'png'] as const) {
      const frame = await decode(await scene(width, height, blocks).toFormat(format).toBuffer());
      expect([frame.width, frame.height]).toEqual([expectedWidth, expectedHeight]);
      expect([frame.sourceWidth, frame.sourceHeight]).toEqual([width, height]);
      expectColour(at(frame, 5, 5), RED, 4);
      expectColour(at(frame, frame.width - 5, 5), [50, 50, 50], 4);
    }
  });

  it.each([
    ['half', 1920, 2],
    ['an eighth', 5200, 8],
  ])(
    'a wide JPEG at %s of its size, halved by the JPEG decoder, so that blocks do not blend',
    async (_, width, factor) => {
      const edge = Math.floor(width / 16) * 8; // a border between two blocks of the JPEG
      const left = { x: 0, y: 0, width: edge, height: 160, colour: RED };
      const bytes = await scene(width, 160, [left]).jpeg({ chromaSubsampling: '4:4:4', quality: 95 }).toBuffer();
      const frame = await decode(bytes);
      expectColour(at(frame, edge / factor - 1, 10), RED, 3);
      expectColour(at(frame, edge / factor, 10), [50, 50, 50], 3);
    },
  );

  it('a wide JPEG with EXIF orientation, halved', async () => {
    const blocks = [{ x: 0, y: 0, width: 400, height: 1600, colour: RED }];
    const bytes = await scene(1200, 1600, blocks).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const frame = await decode(bytes); // rotated clockwise: the left side is on top
    expect([frame.width, frame.height, frame.sourceWidth, frame.sourceHeight]).toEqual([800, 600, 1600, 1200]);
    expectColour(at(frame, 400, 20), RED, 6);
    expectColour(at(frame, 400, 580), [50, 50, 50], 6);
  });

  it('a JPEG with stray bytes between its markers, as some cameras send', async () => {
    const bytes = await flag().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
    const table = bytes.indexOf(Buffer.from([0xff, 0xdb]));
    const dirty = Buffer.concat([bytes.subarray(0, table), Buffer.from([0, 1, 2]), bytes.subarray(table)]);
    expectColour(at(await decode(dirty), 10, 10), RED, 6);
  });

  it('an image of the smallest size', async () => {
    expect((await decode(await scene(16, 16).png().toBuffer())).width).toBe(16);
  });
});

describe('decodeFrame refuses', () => {
  const cut = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length * 0.6));
  const noise = () => noisy(200, 150);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"></svg>');

  it.each<[string, () => Promise<Uint8Array> | Uint8Array, string, string]>([
    [
      'zero bytes',
      () => new Uint8Array(0),
      'image-unreadable',
      'before: zero bytes came, expected jpeg, png, webp, avif, tiff, gif',
    ],
    [
      'text',
      () => Buffer.from('hello, I am no image ..'),
      'image-unreadable',
      'before: the 23 bytes are not an image, expected jpeg, png, webp, avif, tiff, gif',
    ],
    ['an SVG', () => svg, 'image-unreadable', `before: the ${svg.length} bytes are not an image`],
    [
      'a truncated PNG',
      async () => cut(await noise().png().toBuffer()),
      'image-unreadable',
      'before: the image is damaged or truncated',
    ],
    ['a truncated WebP', async () => cut(await noise().webp().toBuffer()), 'image-unreadable', 'before: '],
    [
      'a header without pixels',
      () => pngHeader(64, 48),
      'image-unreadable',
      'before: the image is damaged or truncated',
    ],
    [
      '50,000 x 50,000 px',
      () => pngHeader(50_000, 50_000),
      'image-too-large',
      'before: the image has 50000x50000 px, expected at most 50000000 px in all (PIXEL_LIMIT)',
    ],
    [
      '1 x 1 px',
      () => scene(1, 1).png().toBuffer(),
      'image-too-small',
      'before: the image has 1x1 px, expected at least 16 px on each side',
    ],
    ['a thin strip', () => scene(400, 15).png().toBuffer(), 'image-too-small', 'before: the image has 400x15 px'],
  ])('%s', async (_, bytes, code, message) => {
    const error = await decode(await bytes()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, field: 'before', permanent: true });
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain('\n');
  });

  it('with the field of the frame', async () => {
    await expect(decode(new Uint8Array(0), 'after')).rejects.toMatchObject({ field: 'after' });
  });

  it('one pixel more than the limit, and accepts the limit', async () => {
    const bytes = await scene(40, 30).png().toBuffer();
    await expect(decode(bytes, 'before', 1199)).rejects.toMatchObject({ code: 'image-too-large' });
    await expect(decode(bytes, 'before', 1200)).resolves.toMatchObject({ width: 40 });
  });
});

describe('withFullSize', () => {
  it('keeps all pixels of a wide frame', async () => {
    const bytes = await scene(1921, 20).png().toBuffer();
    const image = await withFullSize(bytes, { field: 'frame', pixelLimit: 50_000_000 }, async (all) => all);
    expect([image.width, image.height, image.data.length]).toEqual([1921, 20, 1921 * 20 * 3]);
  });

  it('accepts an image below the smallest size of a frame', async () => {
    const bytes = await scene(3, 2).png().toBuffer();
    const options = { field: 'frame', pixelLimit: 50_000_000 };
    expect(await withFullSize(bytes, options, async (all) => all)).toMatchObject({ width: 3, height: 2 });
  });
});
