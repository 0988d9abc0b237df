/** JPEGs that were cut off: the share that was decoded, and comparisons without the lost rows. */
import { describe, expect, it } from '@jest/globals';
import type { Sharp } from 'sharp';
import { decodeFrame, decodeReduced } from '../../src/frames/decode.js';
import { assertComplete, fillLostRows } from '../../src/frames/lost-rows.js';
import { haveSamePixels } from '../../src/frames/pair.js';
import { noisy } from './pictures.js';

const options = { field: 'after', pixelLimit: 50_000_000 };
const [WIDTH, HEIGHT] = [640, 480];
const cut = (jpeg: Buffer, share: number) => jpeg.subarray(0, Math.floor(jpeg.length * share));
const make = (image: Sharp = noisy(WIDTH, HEIGHT), jpeg: Parameters<Sharp['jpeg']>[0] = {}) =>
  image.jpeg(jpeg).toBuffer();

describe('a JPEG that was cut off', () => {
  it.each<[string, () => Promise<Buffer>]>([
    ['with 4:2:0', () => make()],
    ['with 4:4:4', () => make(noisy(WIDTH, HEIGHT), { chromaSubsampling: '4:4:4' })],
    ['in grey', () => make(noisy(WIDTH, HEIGHT).greyscale())],
    ['of odd sizes', () => make(noisy(637, 479))],
    ['with an end marker behind the cut', async () => Buffer.concat([cut(await make(), 1), Buffer.from([0xff, 0xd9])])],
  ])('%s has the share of its rows that its bytes hold', async (_what, jpeg) => {
    const bytes = await jpeg();
    for (const share of [0.2, 0.5, 0.8]) {
      const frame = await decodeFrame(cut(bytes, share), options);
      // Noise takes equal bytes per row; a row of blocks has 16 pixels.
      expect(Math.abs(frame.decodedShare - share)).toBeLessThan(0.06);
      expect(frame.lost).toMatchObject({ x: 0, width: frame.width });
      expect((frame.lost?.y ?? 0) + (frame.lost?.height ?? 0)).toBe(frame.height);
    }
  });

  it('has the same share at reduced size', async () => {
    const bytes = cut(await make(noisy(1600, 1200)), 0.5);
    for (const reduction of [1, 2, 4, 8]) {
      const { decodedShare } = await decodeReduced(bytes, () => reduction, options);
      expect(Math.abs(decodedShare - 0.5)).toBeLessThan(0.05);
    }
  });

  it.each([
    [1, 'bottom'],
    [2, 'bottom'],
    [3, 'top'],
    [4, 'top'],
    [5, 'right'],
    [6, 'left'],
    [7, 'left'],
    [8, 'right'],
  ])('with EXIF orientation %d has lost its %s', async (orientation, edge) => {
    const jpeg = await noisy(WIDTH, HEIGHT).withMetadata({ orientation }).jpeg().toBuffer();
    const { lost, width, height, decodedShare } = await decodeFrame(cut(jpeg, 0.5), options);
    if (lost === null) throw new Error('nothing is lost');
    expect(Math.abs(decodedShare - 0.5)).toBeLessThan(0.06);
    expect(edge === 'bottom' || edge === 'top' ? lost.width : lost.height).toBe(
      edge === 'bottom' || edge === 'top' ? width : height,
    );
    expect(edge === 'bottom' ? lost.y : 1).toBeGreaterThan(0);
    expect(edge === 'right' ? lost.x : 1).toBeGreaterThan(0);
    if (edge === 'top') expect(lost.y).toBe(0);
    if (edge === 'left') expect(lost.x).toBe(0);
  });

  it('is refused if almost nothing is left, and by `assertComplete`, which accepts the last rows of a frame', async () => {
    const jpeg = await make();
    const refused = { code: 'image-unreadable', message: expect.stringContaining('damaged or truncated') };
    await expect(decodeFrame(cut(jpeg, 0.03), options)).rejects.toMatchObject(refused);
    const half = await decodeFrame(cut(jpeg, 0.5), options);
    expect(() => assertComplete(half, 'after')).toThrow(/5\d % of its rows are missing/);
    expect(() => assertComplete({ ...half, decodedShare: 0.985 }, 'after')).not.toThrow();
  });
});

it('a JPEG that was cut off is recognised while other images are decoded', async () => {
  const intact = await make();
  const damaged = cut(intact, 0.5);
  // The end of another decode empties libvips's error buffer, and with it the reason of this one's warning.
  for (let i = 0; i < 60; i++) {
    const [frame] = await Promise.all([decodeFrame(damaged, options), decodeFrame(intact, options)]);
    expect(frame.lost).not.toBeNull();
  }
});

it('a whole JPEG has the share 1', async () => {
  expect(await decodeFrame(await make(), options)).toMatchObject({ decodedShare: 1, lost: null });
});

it('lost rows of either frame are no difference, and the decoded ones stay one', async () => {
  const jpeg = await make();
  const decode = (bytes: Buffer) => decodeFrame(bytes, options);
  const frames = { before: await decode(cut(jpeg, 0.7)), after: await decode(cut(jpeg, 0.4)) };
  fillLostRows(frames);
  const { width, data } = frames.after;
  expect(frames.before.data.subarray(0, width * 3 * 150)).toEqual(data.subarray(0, width * 3 * 150));
  const intact = { before: await decode(jpeg), after: await decode(cut(jpeg, 0.4)) };
  fillLostRows(intact);
  // At the edge of the data, chroma is interpolated with the fill.
  const unlike = intact.after.data.filter((level, i) => Math.abs(level - (intact.before.data[i] as number)) > 2).length;
  expect(unlike / data.length).toBeLessThan(0.01);
  const other = {
    before: await decode(jpeg),
    after: await decode(cut(await make(noisy(WIDTH, HEIGHT).negate()), 0.4)),
  };
  fillLostRows(other);
  expect(haveSamePixels(other)).toBe(false);
});
