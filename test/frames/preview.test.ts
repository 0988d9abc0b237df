/** Previews: their size, orientation and levels. */
import sharp from 'sharp';
import { decodePreview, previewReduction } from '../../src/frames/preview.js';

const OPTIONS = { pixelLimit: 50_000_000, field: 'frame' };
const RED = { r: 200, g: 40, b: 30 };
const plain = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: RED } });

it.each([
  [320, 1],
  [640, 1],
  [960, 2],
  [1280, 2],
  [1920, 4],
  [3840, 8],
  [7680, 8],
])('a frame of %i px width is reduced to 1/%i', (width, reduction) => {
  expect(previewReduction(width)).toBe(reduction);
});

it.each(['jpeg', 'png'] as const)('a %s of 1080p becomes 480 x 270 px with its luma and its colour', async (format) => {
  const { width, height, luma, chroma, source } = await decodePreview(
    await plain(1920, 1080)[format]().toBuffer(),
    OPTIONS,
  );
  expect({ width, height, source }).toEqual({ width: 480, height: 270, source: { width: 1920, height: 1080 } });
  const middle = 67 * 240 + 120;
  const levels = [luma[135 * 480 + 240], chroma?.blue[middle], chroma?.red[middle]].map(Number);
  // BT.601: Y = 86.7, Cb = 128 + 0.564 (B - Y), Cr = 128 + 0.713 (R - Y)
  for (const [i, expected] of [86.7, 96, 208.8].entries())
    expect(Math.abs((levels[i] as number) - expected)).toBeLessThan(3);
});

it('is upright, and refuses a frame without pixels', async () => {
  const turned = await plain(1920, 1080).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  expect(await decodePreview(turned, OPTIONS)).toMatchObject({ width: 540, height: 960 });
  await expect(decodePreview(turned.subarray(0, turned.length / 12), OPTIONS)).rejects.toThrow(/damaged or truncated/);
});
