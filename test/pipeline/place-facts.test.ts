import { thirdOf } from '../../src/language/place.js';
import type { MapRegion } from '../../src/model/regions.js';
import { depthOf, likelyPlace, likelyWay, sideOf } from '../../src/pipeline/place-facts.js';

const region = (side: MapRegion['side'], x: number, height = 0.1): MapRegion => ({
  side,
  box: { x: x - 0.05, y: 0.4, width: 0.1, height },
  area: 0.01,
  score: 0.9,
});
/** The log-odds of the decoder as they are. */
const AS_IS = {
  place: { scale: 1, offset: 0 },
  third: 0.92,
  sideways: 0.97,
  depth: 0.93,
};

describe('the ladder of a place', () => {
  const place = (value: string, probability: number, x: number, truth: number) =>
    likelyPlace({ value, probability }, region('after', x), AS_IS, truth);

  it.each([
    ['on the road', 0.95, 0.2, 0.9, 'on the road'],
    ['on the road', 0.8, 0.2, 0.9, 'on the left'],
    ['on the road', 0.8, 0.5, 0.9, 'in the middle'],
    ['on the road', 0.8, 0.2, 0.75, 'on the road'],
    ['on the road', 0.8, 0.2, 0.95, null],
    // a part of the frame that the box refutes is never said
    ['on the left', 0.99, 0.8, 0.9, 'on the right'],
    ['in the middle', 0.99, 0.1, 0.9, 'on the left'],
    ['on the right', 0.99, 0.1, 0.95, null],
  ])('"%s" (%d) at %d with truth %d is %j', (value, probability, x, truth, expected) => {
    expect(place(value, probability, x, truth)?.value ?? null).toBe(expected);
  });

  it('has calibrated probabilities', () => {
    expect(place('on the road', 0.95, 0.2, 0.9)?.probability).toBeCloseTo(0.95, 9);
    expect(place('on the road', 0.5, 0.2, 0.9)?.probability).toBe(0.92);
  });

  it('is the third of the frame if the decoder states none', () => {
    expect(likelyPlace(null, region('after', 0.9), AS_IS, 0.9)?.value).toBe('on the right');
  });
});

describe('the way of a move', () => {
  const way = (from: MapRegion, to: MapRegion) => likelyWay([from, to], AS_IS, 0.9)?.value ?? null;

  it.each([
    [0.6, 0.4, 'to the left'],
    [0.4, 0.6, 'to the right'],
    [0.5, 0.46, null],
  ])('from %d to %d is %j', (from, to, expected) => {
    expect(way(region('before', from), region('after', to))).toBe(expected);
  });

  it('is "closer" of boxes that grow, and not of boxes that shrink', () => {
    const tall = (side: MapRegion['side'], size: number): MapRegion => ({
      ...region(side, 0.5),
      box: { x: 0.5 - size / 2, y: 0.4, width: size, height: 2 * size },
    });
    expect(way(tall('before', 0.1), tall('after', 0.2))).toBe('closer');
    expect(way(tall('before', 0.2), tall('after', 0.1))).toBe('further away');
  });
});

describe('a move in depth', () => {
  const box = (side: MapRegion['side'], x: number, y: number, width: number, height: number): MapRegion => ({
    ...region(side, 0),
    box: { x, y, width, height },
  });
  const far = box('before', 0.4, 0.3, 0.1, 0.2);

  it.each([
    ['a larger box lower in the frame', box('after', 0.37, 0.35, 0.15, 0.3), 'closer'],
    ['as large a box lower in the frame', box('after', 0.4, 0.45, 0.1, 0.2), null],
    ['a larger box at the same feet', box('after', 0.37, 0.2, 0.15, 0.3), null],
    ['a wide, flat box: who lies down', box('after', 0.3, 0.45, 0.3, 0.22), null],
    ['a low box: who sits down', box('after', 0.37, 0.47, 0.12, 0.11), null],
  ])('of %s', (_, near, expected) => {
    expect(depthOf([far, near])).toBe(expected);
    const back = [
      { ...near, side: 'before' as const },
      { ...far, side: 'after' as const },
    ];
    expect(depthOf(back)).toBe(expected && 'further away');
  });

  it('is written in place of a side that it hardly moved to, and after a side that it clearly moved to', () => {
    const way = (x: number, depth = 0.93) =>
      likelyWay([far, box('after', x, 0.35, 0.15, 0.3)], { ...AS_IS, depth }, 0.9)?.value ?? null;
    expect([way(0.4), way(0.7)]).toEqual(['closer', 'to the right']);
    expect(way(0.4, 0.8)).toBeNull();
  });

  it('is not written for a bundle that does not know it', () => {
    const { depth: _, ...older } = AS_IS;
    expect(likelyWay([far, box('after', 0.37, 0.35, 0.15, 0.3)], older, 0.9)).toBeNull();
  });
});

it('thirds and sides come from the boxes', () => {
  expect([0.1, 0.5, 0.9].map((x) => thirdOf(region('after', x).box))).toEqual([
    'on the left',
    'in the middle',
    'on the right',
  ]);
  expect(sideOf([region('before', 0.5), region('after', 0.55)])).toBeNull();
  expect(sideOf([region('after', 0.5)])).toBeNull();
});
