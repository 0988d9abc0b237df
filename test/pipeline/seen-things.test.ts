/** Things of changed regions, as the pixels show them. */
import { expect, it } from '@jest/globals';
import type { Box, RgbImage } from '../../src/base/images.js';
import { joinedThing, seenIn, seenThings as seenOf, tightThings } from '../../src/pipeline/seen-things.js';
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
const identity = mapToSourceFrame(null);
/** The things of some regions, or the people whom a detector saw there. */
const seenThings = (
  frames: { before: RgbImage; after: RgbImage },
  regions: readonly ReturnType<typeof region>[],
  toSource: typeof identity,
  people: readonly (readonly Box[])[] = [],
) => seenOf({ frames, toSourceFrame: toSource }, regions, new Map(regions.map((one, i) => [one, people[i] ?? []])));
const RED = [220, 20, 20];
const BLACK = [10, 10, 10];

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

it('fragments are joined to one thing with the colours of all', () => {
  const frames = { before: picture(), after: picture([60, 20, 12, 36, RED], [66, 70, 12, 36, BLACK]) };
  const thing = joinedThing(tightThings(frames, region(55, 15, 30, 95), []));
  expect([thing.box.x * WIDTH, thing.box.y * HEIGHT]).toEqual([expect.closeTo(60, 5), expect.closeTo(20, 5)]);
  expect([thing.colours[4], thing.colours[0]]).toEqual([expect.closeTo(50, 0), expect.closeTo(50, 0)]);
});

it('are those of the pixels where the only person fills less than half of a region, beside whom another may be', () => {
  const frames = { before: picture(), after: picture([40, 40, 12, 40, BLACK], [80, 40, 12, 40, BLACK]) };
  const both = region(38, 38, 56, 44);
  const box = ({ box: { x } }: { readonly box: Box }) => Math.round(x * WIDTH);
  const person = { x: 40 / WIDTH, y: 40 / HEIGHT, width: 12 / WIDTH, height: 40 / HEIGHT };
  expect(seenIn(frames, both, [person]).map(box)).toEqual([40, 80]);
  expect(seenIn(frames, region(38, 38, 16, 44), [person]).map(box)).toEqual([40]);
  expect(seenIn(frames, both, [person, { ...person, x: 80 / WIDTH }]).map(box)).toEqual([40, 80]);
});
