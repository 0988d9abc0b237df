/** Things of changed regions, as the pixels show them. */
import { describe, expect, it } from '@jest/globals';
import type { RgbImage } from '../../src/base/images.js';
import { showsPeopleApart } from '../../src/pipeline/people-apart.js';
import { seenThings } from '../../src/pipeline/seen-things.js';
import { mapToSourceFrame } from '../../src/pipeline/word-heatmaps.js';

const WIDTH = 160;
const HEIGHT = 120;
const GREY = [128, 128, 128] as const;

type Rect = readonly [x: number, y: number, width: number, height: number, colour: readonly number[]];

function picture(...things: Rect[]): RgbImage {
  const data = new Uint8Array(WIDTH * HEIGHT * 3).map((_, i) => GREY[i % 3] as number);
  for (const [left, top, width, height, colour] of things) {
    for (let y = top; y < top + height; y++) {
      for (let x = left; x < left + width; x++) data.set(colour, (y * WIDTH + x) * 3);
    }
  }
  return { width: WIDTH, height: HEIGHT, data };
}

const region = (x: number, y: number, width: number, height: number) => ({
  id: 1,
  side: 'after' as const,
  box: { x: x / WIDTH, y: y / HEIGHT, width: width / WIDTH, height: height / HEIGHT },
  area: 0.1,
  score: 0.9,
});
const RED = [220, 20, 20];
const BLACK = [10, 10, 10];
const identity = mapToSourceFrame(null);

it('a thing has the box of the pixels that differ, not that of the cells', () => {
  const frames = { before: picture(), after: picture([60, 40, 12, 36, RED]) };
  const [seen, ...others] = seenThings(frames, [region(55, 35, 25, 50)], identity);
  expect(others).toEqual([]);
  expect(seen?.box).toEqual({ x: 60 / WIDTH, y: 0.3333, width: 12 / WIDTH, height: 0.3 });
  expect(seen?.filled).toBe(1);
});

it('two things side by side in one region are separate', () => {
  const frames = { before: picture(), after: picture([60, 40, 12, 36, RED], [76, 40, 12, 36, BLACK]) };
  const seen = seenThings(frames, [region(55, 35, 40, 50)], identity);
  expect(seen.map(({ box }) => Math.round(box.x * WIDTH))).toEqual([60, 76]);
  expect(seen.map(({ region: id }) => id)).toEqual([1, 1]);
});

it('a thing above another one, apart from it, is separate, though they share columns', () => {
  const frames = { before: picture(), after: picture([60, 20, 12, 36, RED], [66, 70, 12, 36, BLACK]) };
  const seen = seenThings(frames, [region(55, 15, 30, 95)], identity);
  expect(seen.map(({ box }) => Math.round(box.y * HEIGHT)).sort()).toEqual([20, 70]);
});

it('a thing of the neighbouring region is no part of this one', () => {
  const frames = { before: picture(), after: picture([60, 40, 12, 36, RED], [76, 40, 12, 36, BLACK]) };
  const seen = seenThings(frames, [region(55, 35, 20, 50)], identity);
  expect(seen.map(({ box }) => Math.round(box.x * WIDTH))).toEqual([60]);
});

it('one wide thing is one', () => {
  const frames = { before: picture(), after: picture([40, 40, 60, 24, RED]) };
  expect(seenThings(frames, [region(35, 35, 70, 35)], identity)).toHaveLength(1);
});

it('the colours of its bands are those of its pixels, without the background', () => {
  const after = picture([60, 40, 12, 18, RED], [60, 58, 12, 18, BLACK]);
  const [seen] = seenThings({ before: picture(), after }, [region(55, 35, 25, 50)], identity);
  const [top, , bottom] = [0, 1, 2].map((band) => seen?.colours.slice(band * 10, band * 10 + 10));
  expect(top?.[4]).toBe(100);
  expect(bottom?.[0]).toBe(100);
});

it('frames without a difference there give the box of the region', () => {
  const [seen] = seenThings({ before: picture(), after: picture() }, [region(60, 40, 20, 20)], identity);
  expect(seen?.filled).toBe(0);
  expect(seen?.box.width).toBeGreaterThan(0);
});

it('the people whom a detector saw there are the things', () => {
  const after = picture([60, 40, 12, 36, RED], [66, 40, 12, 36, BLACK]);
  const boxes = [60, 66].map((x) => ({ x: x / WIDTH, y: 40 / HEIGHT, width: 12 / WIDTH, height: 36 / HEIGHT }));
  const seen = seenThings({ before: picture(), after }, [region(55, 35, 28, 46)], identity, [boxes]);
  expect(seen.map(({ box }) => box.x)).toEqual(boxes.map(({ x }) => expect.closeTo(x, 3)));
  expect(seen[1]?.colours[0]).toBe(100);
});

describe('people apart', () => {
  const [A, B, SHORT]: Rect[] = [
    [60, 40, 6, 20, RED],
    [72, 41, 6, 19, BLACK],
    [72, 50, 6, 9, BLACK],
  ];
  const far = region(56, 36, 26, 26);
  const apart = (things: Rect[], at = far) => showsPeopleApart({ before: picture(), after: picture(...things) }, at);

  it('are the upright things of like height at a small region', () => {
    expect(apart([A as Rect, B as Rect])).toBe(true);
    expect(apart([A as Rect])).toBe(false);
  });

  it('are one beside a short thing, where they are near, and at a wide region', () => {
    expect(apart([A as Rect, SHORT as Rect])).toBe(false);
    expect(apart([A as Rect, B as Rect], region(56, 30, 26, 36))).toBe(false);
    expect(apart([A as Rect, B as Rect], region(40, 38, 60, 24))).toBe(false);
  });
});
