/** findLosses: lost parts of synthetic frames are found with reason and place; whole frames are not called damaged. */
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { RgbImage } from '../../src/base/images.js';
import { seededRandom } from '../../src/base/random.js';
import { findLosses } from '../../src/viewpoint/lost.js';

/** @returns the loss of the first frame */
const findLost = (frame: RgbImage, other: RgbImage) => findLosses(other, frame).after;

const [WIDTH, HEIGHT] = [480, 360];

/** A yard: a gradient with a wall, a door and noise of a sensor. */
function scene(seed: string, light = 1, [width, height] = [WIDTH, HEIGHT]): RgbImage {
  const random = seededRandom(seed);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isWall = y < 150 && (x > 260 || y < 60);
      const level = (isWall ? 150 + 20 * Math.sin(x / 7) : 90 + y / 6 + 12 * Math.sin(x / 23 + y / 11)) * light;
      for (let c = 0; c < 3; c++) {
        data[(y * width + x) * 3 + c] = Math.max(0, Math.min(255, level - 8 * c + 2 * random.normal()));
      }
    }
  }
  return { width, height, data };
}

/** As the coder of a camera leaves it. */
async function coded({ width, height, data }: RgbImage, quality: number): Promise<RgbImage> {
  const file = await sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
  return { width, height, data: await sharp(file).raw().toBuffer() };
}

type Rectangle = readonly [left: number, top: number, right: number, bottom: number];
function filled(image: RgbImage, colour: readonly number[], [left, top, right, bottom]: Rectangle): RgbImage {
  const data = Uint8Array.from(image.data);
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) data.set(colour, (y * image.width + x) * 3);
  return { ...image, data };
}

const HALF: Rectangle = [0, HEIGHT / 2, WIDTH, HEIGHT];
const before = scene('before');
const after = scene('after');

describe('a part of one colour', () => {
  it.each([
    ['grey below', [128, 128, 128], HALF],
    ['green below', [0, 135, 0], HALF],
    ['pink below', [255, 90, 200], HALF],
    ['black below', [0, 0, 0], HALF],
    ['white below', [255, 255, 255], HALF],
    ['grey beside', [128, 128, 128], [320, 0, WIDTH, HEIGHT] as const],
    ['a slice', [128, 128, 128], [0, 96, WIDTH, 144] as const],
    ['all of the frame', [0, 0, 160], [0, 0, WIDTH, HEIGHT] as const],
  ])('is a lost signal: %s', (_name, colour, rectangle) => {
    const lost = findLost(filled(after, colour, rectangle), before);
    const [left, top, right, bottom] = rectangle;
    expect(lost?.reason).toBe('signal_lost');
    expect(lost?.share).toBeCloseTo(((right - left) * (bottom - top)) / (WIDTH * HEIGHT), 1);
  });

  it('is found in black, though the coder ripples beyond its edge', async () => {
    const black = filled(after, [0, 0, 0], HALF);
    const lost = findLost(await coded(black, 60), before);
    expect(lost?.reason).toBe('signal_lost');
    expect(lost?.share).toBeCloseTo(0.5, 1);
  });

  it('is found over flat ground, whose cells have no noise but differ from each other', () => {
    const data = before.data.map((_level, i) => 90 + Math.floor(i / (6 * 3 * WIDTH)));
    const ground = { ...before, data };
    expect(findLost(filled(ground, [0, 135, 0], [0, 320, WIDTH, HEIGHT]), ground)?.reason).toBe('signal_lost');
  });

  it('of both frames is a part of the scene', () => {
    expect(findLost(filled(after, [128, 128, 128], HALF), filled(before, [128, 128, 128], HALF))).toBeNull();
  });
});

describe('repeated rows and displaced blocks', () => {
  it('are a damaged picture: the last good row drawn down', () => {
    const row = WIDTH * 3;
    const data = Uint8Array.from(after.data);
    for (let y = 180; y < HEIGHT; y++) data.copyWithin(y * row, 179 * row, 180 * row);
    const lost = findLost({ ...after, data }, before);
    expect(lost?.reason).toBe('picture_damaged');
    expect(lost?.share).toBeCloseTo(0.5, 1);
  });

  it('are a damaged picture: rows of flat ground, which differ by little', () => {
    const data = new Uint8Array(before.data.length);
    for (let i = 0; i < data.length; i++) data[i] = 90 + Math.round((i % (WIDTH * 3)) / WIDTH);
    const random = seededRandom('ground');
    const ground = { ...before, data: data.map((level) => level + (random.uniform(0, 1) < 0.5 ? 1 : 0)) };
    const row = WIDTH * 3;
    const drawn = { ...ground, data: Uint8Array.from(ground.data) };
    for (let y = 320; y < HEIGHT; y++) drawn.data.copyWithin(y * row, 319 * row, 320 * row);
    expect(findLost(drawn, ground)?.share).toBeCloseTo(0.1, 1);
    expect(findLost(ground, drawn)).toBeNull();
  });

  it('are not rows of a drawn picture without noise, before which a thing has come', () => {
    const drawn = { ...before, data: before.data.map((_level, i) => (i % (WIDTH * 3) < WIDTH ? 0 : 120)) };
    const shown = { ...drawn, data: Uint8Array.from(drawn.data) };
    for (let y = 100; y < 220; y++) {
      const [from, to] = [y * WIDTH + 240, y * WIDTH + 380].map((pixel) => 3 * pixel);
      shown.data.set(after.data.subarray(from, to), from);
    }
    expect(findLosses(drawn, shown)).toEqual({ before: null, after: null });
  });

  it('are not what a video coder leaves, which renews blocks', () => {
    const noisy = (seed: string) => {
      const random = seededRandom(seed);
      return { ...before, data: before.data.map((level) => Math.max(0, Math.min(255, level + 8 * random.normal()))) };
    };
    const [earlier, later] = [noisy('earlier'), noisy('later')];
    const data = Uint8Array.from(earlier.data);
    for (let y = 160; y < 320; y++) {
      for (let x = 160; x < 320; x++) {
        if ((Math.floor(x / 16) + Math.floor(y / 16)) % 2 === 0) continue;
        data.set(later.data.subarray((y * WIDTH + x) * 3, (y * WIDTH + x) * 3 + 3), (y * WIDTH + x) * 3);
      }
    }
    expect(findLost({ ...earlier, data }, earlier)).toBeNull();
  });

  it('are a damaged picture: blocks of other places', () => {
    const random = seededRandom('blocks');
    const data = Uint8Array.from(after.data);
    for (let i = 0; i < 120; i++) {
      const [toX, toY] = [Math.floor(random.uniform(0, 30)), 11 + Math.floor(random.uniform(0, 11))];
      const [fromX, fromY] = [Math.floor(random.uniform(0, 30)), Math.floor(random.uniform(0, 9))];
      for (let line = 0; line < 16; line++) {
        const from = ((fromY * 16 + line) * WIDTH + fromX * 16) * 3;
        data.set(after.data.subarray(from, from + 48), ((toY * 16 + line) * WIDTH + toX * 16) * 3);
      }
    }
    expect(findLost({ ...after, data }, before)?.reason).toBe('picture_damaged');
  });
});

describe('a whole frame', () => {
  it.each([
    ['of the same light', 1],
    ['at dusk', 0.3],
    ['at night', 0.02],
    ['in glare', 3],
  ])('has lost nothing: %s', (_name, light) => {
    expect(findLost(scene('light', light), before)).toBeNull();
    expect(findLost(before, scene('light', light))).toBeNull();
  });

  it('has lost nothing if something new stands in it', () => {
    const random = seededRandom('thing');
    const thing = filled(after, [128, 128, 128], [200, 100, 300, 330]);
    const noisy = thing.data.map((level) => Math.max(0, Math.min(255, level + 2 * random.normal())));
    expect(findLost({ ...thing, data: noisy }, before)).toBeNull();
  });
});

describe('a noisy whole frame', () => {
  it.each([1, 0.4])('has lost nothing under strong compression, which makes blocks: light %d', async (light) => {
    const random = seededRandom('n');
    const frame = scene('after', light);
    const data = frame.data.map((level) => Math.max(0, Math.min(255, level + 20 * random.normal())));
    expect(findLost(await coded({ ...frame, data }, 12), before)).toBeNull();
  });
});

describe('in a frame of 200 px', () => {
  const [old, present] = ['before', 'after'].map((seed) => scene(seed, 1, [200, 120])) as [RgbImage, RgbImage];
  /** Roofs in colours: a coder keeps them coarsely, and they ripple into the fill. */
  const coloured = (image: RgbImage) => ({
    ...image,
    data: image.data.map((level, i) => (i % 3 === 2 && Math.floor(i / 3 / image.width) % 48 < 24 ? level >> 2 : level)),
  });

  it.each([60, 75, 90])('a tenth beside, in black, is found under the ripples of a coder of quality %d', async (q) => {
    const [was, is] = ['before', 'after'].map((seed) => coloured(scene(seed, 1, [194, 120]))) as [RgbImage, RgbImage];
    const lost = findLost(await coded(filled(is, [0, 0, 0], [178, 0, 194, 120]), q), was);
    expect(lost?.reason).toBe('signal_lost');
    expect(lost?.share).toBeCloseTo(0.08, 1);
  });

  it('black is found of which one block of the scene is left', () => {
    expect(findLost(filled(present, [0, 0, 0], [0, 16, 200, 120]), old)?.share).toBeGreaterThan(0.8);
  });

  it('one row of displaced blocks is found', () => {
    const shown = { ...present, data: Uint8Array.from(present.data) };
    for (const x of [1, 4, 6, 9]) {
      for (let y = 0; y < 16; y++) {
        const from = (y * 200 + 184 - x * 16) * 3;
        shown.data.set(present.data.subarray(from, from + 48), ((96 + y) * 200 + x * 16) * 3);
      }
    }
    expect(findLost(shown, old)?.reason).toBe('picture_damaged');
  });

  it('strong compression, which repeats the rows of half a block, has lost nothing', async () => {
    const ground = (image: RgbImage) => ({
      ...image,
      height: 48,
      data: image.data.subarray(64 * 200 * 3, 112 * 200 * 3),
    });
    expect(findLost(await coded(ground(present), 12), ground(old))).toBeNull();
  });
});
