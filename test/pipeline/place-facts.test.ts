import { thirdOf } from '../../src/language/place.js';
import type { MapRegion } from '../../src/model/regions.js';
import { likelyPlace, likelyWay, sideOf } from '../../src/pipeline/place-facts.js';

const region = (side: MapRegion['side'], x: number, height = 0.1): MapRegion => ({
  side,
  box: { x: x - 0.05, y: 0.4, width: 0.1, height },
  area: 0.01,
  score: 0.9,
});
/** The log-odds of the decoder as they are. */
const AS_IS = {
  place: { scale: 1, offset: 0 },
  way: { scale: 1, offset: 0, agreement: 4 },
  third: 0.92,
  sideways: 0.97,
};

describe('the ladder of a place', () => {
  const place = (value: string, probability: number, x: number, truth: number) =>
    likelyPlace({ value, probability }, [region('after', x)], AS_IS, truth);

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

  it('is the stated phrase for a bundle without calibration', () => {
    const stated = { value: 'on the left', probability: 0.2 };
    expect(likelyPlace(stated, [region('after', 0.9)], undefined, 0.9)).toEqual(stated);
    expect(likelyPlace(null, [region('after', 0.9)], AS_IS, 0.9)).toBeNull();
  });
});

describe('the ladder of a way', () => {
  const way = (value: string, probability: number, from: MapRegion, to: MapRegion, truth = 0.9) =>
    likelyWay({ value, probability }, [from, to], AS_IS, truth)?.value ?? null;

  it.each([
    ['to the left', 0.5, 0.6, 0.4, 'to the left'],
    ['to the left', 0.5, 0.4, 0.6, 'to the right'],
    ['slightly to the left', 0.5, 0.5, 0.46, null],
    ['closer', 0.5, 0.4, 0.6, 'to the right'],
    ['closer', 0.5, 0.5, 0.5, null],
    ['closer', 0.95, 0.5, 0.5, 'closer'],
  ])('"%s" (%d) from %d to %d is %j', (value, probability, from, to, expected) => {
    expect(way(value, probability, region('before', from), region('after', to))).toBe(expected);
  });

  it('writes "closer" of boxes that grow, and not of boxes that shrink', () => {
    expect(way('closer', 0.5, region('before', 0.5, 0.1), region('after', 0.5, 0.2))).toBe('closer');
    expect(way('closer', 0.5, region('before', 0.5, 0.2), region('after', 0.5, 0.1))).toBeNull();
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
