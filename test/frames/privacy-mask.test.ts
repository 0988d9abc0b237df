import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import sharp, { type Sharp } from 'sharp';
import { overlapOf, type Point } from '../../src/base/polygon.js';
import { maskedMap, maskFrame, paintPolygon, paintPreview } from '../../src/frames/privacy-mask.js';

const W = 160;
const H = 120;
const TRIANGLE: Point[] = [
  [0.2, 0.2],
  [0.7, 0.3],
  [0.4, 0.8],
];
const OPTIONS = { pixelLimit: 1_000_000, field: 'frame' };

/** Texture, and content under the triangle that depends on `secret`. */
function scene(secret: number) {
  const data = Buffer.alloc(W * H * 3);
  for (let i = 0; i < data.length; i++) data[i] = 60 + ((i * 7919) % 120);
  for (let y = 0; y < H; y++) {
    for (let x = 0; x < W; x++) {
      const box = { x: x / W, y: y / H, width: 1 / W, height: 1 / H };
      // entirely inside: a pixel on the outline is painted too, but belongs to the outside as well
      if (overlapOf(box, TRIANGLE) > 0.999)
        data.fill((secret * 37 * (x + 1) * (y + 3)) % 256, (y * W + x) * 3, (y * W + x + 1) * 3);
    }
  }
  return sharp(data, { raw: { width: W, height: H, channels: 3 } });
}
const pixels = (bytes: Uint8Array) => sharp(bytes).raw().toBuffer();

describe('a masked frame', () => {
  it.each([
    ['PNG', (s: Sharp) => s.png().toBuffer()],
    ['JPEG', (s: Sharp) => s.jpeg({ quality: 80 }).toBuffer()],
    ['JPEG with its chroma halved', (s: Sharp) => s.jpeg({ quality: 40, chromaSubsampling: '4:2:0' }).toBuffer()],
    ['turned JPEG', (s: Sharp) => s.withMetadata({ orientation: 3 }).jpeg().toBuffer()],
  ])('does not depend on the content under the mask: %s', async (name, encode) => {
    const [one, other] = await Promise.all([encode(scene(1)), encode(scene(2))]);
    expect(Buffer.compare(one, other)).not.toBe(0);
    // the mask is in upright coordinates, the pixels are stored upside down
    const polygon = name === 'turned JPEG' ? TRIANGLE.map(([x, y]): Point => [1 - x, 1 - y]) : TRIANGLE;
    const [a, b] = await Promise.all([one, other].map((bytes) => maskFrame(bytes, [polygon], OPTIONS)));
    expect(Buffer.compare(a as Uint8Array, b as Uint8Array)).toBe(0);
  });

  it('is black inside, and keeps the pixels outside', async () => {
    const source = await scene(1).png().toBuffer();
    const [masked, before] = await Promise.all([maskFrame(source, [TRIANGLE], OPTIONS).then(pixels), pixels(source)]);
    const level = (data: Buffer, x: number, y: number) => data[(y * W + x) * 3] ?? -1;
    expect(level(masked, 70, 50)).toBeLessThan(4);
    // outside the blocks of the second coding that the mask touches
    for (const [x, y] of [
      [5, 5],
      [150, 10],
      [10, 110],
      [150, 110],
    ] as const) {
      expect(Math.abs(level(masked, x, y) - level(before, x, y))).toBeLessThan(24);
    }
  });

  it('has none of the metadata of the file, such as its thumbnail', async () => {
    const source = await scene(1)
      .withExif({ IFD0: { ImageDescription: 'seen from the window' } })
      .jpeg()
      .toBuffer();
    expect(source.includes('seen from the window')).toBe(true);
    const masked = Buffer.from(await maskFrame(source, [TRIANGLE], OPTIONS));
    expect(masked.includes('seen from the window')).toBe(false);
    expect((await sharp(masked).metadata()).exif).toBeUndefined();
  });

  it('has three channels if the frame is greyscale', async () => {
    const grey = await scene(1).toColourspace('b-w').png().toBuffer();
    expect((await sharp(await maskFrame(grey, [TRIANGLE], OPTIONS)).metadata()).channels).toBe(3);
  });

  it('is refused if the frame cannot be decoded or has too many pixels', async () => {
    const source = await scene(1).png().toBuffer();
    await expect(maskFrame(source.subarray(0, 90), [TRIANGLE], OPTIONS)).rejects.toMatchObject({
      code: 'image-unreadable',
      field: 'frame',
    });
    await expect(maskFrame(source, [TRIANGLE], { ...OPTIONS, pixelLimit: 100 })).rejects.toMatchObject({
      code: 'image-too-large',
    });
  });
});

describe('paintPreview', () => {
  it('paints brightness and colours under the polygon and its margin, and nothing else', () => {
    const size = { width: 48, height: 32 };
    const chroma = { blue: new Uint8Array(24 * 16).fill(200), red: new Uint8Array(24 * 16).fill(60) };
    const luma = new Uint8Array(48 * 32).fill(255);
    const left: Point[] = [
      [0, 0],
      [0.25, 0],
      [0.25, 1],
      [0, 1],
    ];
    // A quarter of the sides of its source: 17 px there are 5 here and 3 in the colours, one more for the resizing, and
    // the pixel that the margin touches.
    paintPreview({ ...size, luma, chroma, source: { width: 192, height: 128 } }, left);
    const row = (plane: Uint8Array, width: number) => [...plane.subarray(3 * width, 4 * width)];
    expect(row(luma, 48)).toEqual(Array.from({ length: 48 }, (_, x) => (x < 12 + 7 ? 0 : 255)));
    expect(row(chroma.blue, 24)).toEqual(Array.from({ length: 24 }, (_, x) => (x < 6 + 5 ? 128 : 200)));
    expect(row(chroma.red, 24)).toEqual(Array.from({ length: 24 }, (_, x) => (x < 6 + 5 ? 128 : 60)));
  });
});

describe('paintPolygon', () => {
  const coordinate = fc.integer({ min: 0, max: 64 }).map((n) => n / 64);
  const corner = fc.tuple(coordinate, coordinate);

  it('paints every pixel that overlaps the polygon, and none beyond the margin', () => {
    fc.assert(
      fc.property(corner, corner, corner, fc.integer({ min: 0, max: 3 }), (a, b, c, margin) => {
        const polygon: Point[] = [a, b, c];
        const [width, height] = [23, 17];
        const data = new Uint8Array(width * height * 3).fill(255);
        paintPolygon({ width, height, data }, polygon, margin);
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < width; x++) {
            const black = data[(y * width + x) * 3] === 0;
            const around = (by: number) => ({
              x: (x - by) / width,
              y: (y - by) / height,
              width: (1 + 2 * by) / width,
              height: (1 + 2 * by) / height,
            });
            if (overlapOf(around(margin), polygon) > 1e-9) expect(black).toBe(true);
            // with a tolerance for outlines that only touch
            const near = overlapOf(around(margin + 0.01), polygon) > 0;
            const flat = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) < 1e-9;
            if (!near && !flat) expect(black).toBe(false);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('hides the cells of a map that a polygon touches, and no others', () => {
    const map = { width: 4, height: 2, data: new Float32Array(8).fill(1) };
    const half: Point[] = [
      [0.4, 0],
      [1, 0],
      [1, 0.45],
      [0.4, 0.45],
    ];
    expect([...maskedMap(map, { id: 'm', polygons: [half] }).data]).toEqual([1, 0, 0, 0, 1, 1, 1, 1]);
    expect([...map.data]).toEqual(Array.from({ length: 8 }, () => 1));
    expect(maskedMap(map, null)).toBe(map);
  });

  it('does not paint the inside of a U', () => {
    const u: Point[] = [
      [0, 0],
      [0.2, 0],
      [0.2, 0.8],
      [0.8, 0.8],
      [0.8, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ];
    const data = new Uint8Array(20 * 20 * 3).fill(255);
    paintPolygon({ width: 20, height: 20, data }, u, 0);
    expect(data[(5 * 20 + 10) * 3]).toBe(255);
    expect(data[(5 * 20 + 2) * 3]).toBe(0);
    expect(data[(18 * 20 + 10) * 3]).toBe(0);
  });
});
