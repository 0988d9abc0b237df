import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { overlapOf, type Point, polygonArea, polygonFault } from '../../src/base/polygon.js';

const coordinate = fc.integer({ min: 0, max: 1000 }).map((n) => n / 1000);
const box = fc
  .tuple(coordinate, coordinate, coordinate, coordinate)
  .filter(([x1, y1, x2, y2]) => Math.abs(x1 - x2) > 0.01 && Math.abs(y1 - y2) > 0.01)
  .map(([x1, y1, x2, y2]) => ({
    x: Math.min(x1, x2),
    y: Math.min(y1, y2),
    width: Math.abs(x1 - x2),
    height: Math.abs(y1 - y2),
  }));
const cornersOf = (b: { x: number; y: number; width: number; height: number }): Point[] => [
  [b.x, b.y],
  [b.x + b.width, b.y],
  [b.x + b.width, b.y + b.height],
  [b.x, b.y + b.height],
];
/** A star-shaped polygon, with each corner at its own distance from the centre: simple, and seldom convex. */
const star = fc.array(fc.double({ min: 0.1, max: 0.45, noNaN: true }), { minLength: 5, maxLength: 12 }).map((radii) =>
  radii.map((r, i): Point => {
    const angle = (2 * Math.PI * i) / radii.length;
    return [0.5 + r * Math.cos(angle), 0.5 + r * Math.sin(angle)];
  }),
);

describe('overlap', () => {
  it('of two boxes is the area that they share', () => {
    fc.assert(
      fc.property(box, box, (a, b) => {
        const shared =
          Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
          Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));
        expect(overlapOf(a, cornersOf(b))).toBeCloseTo(shared / (a.width * a.height), 9);
      }),
    );
  });

  it('with a polygon that is not convex: the overlaps of two halves add up to that of the box', () => {
    fc.assert(
      fc.property(star, box, (polygon, full) => {
        const half = { ...full, width: full.width / 2 };
        const other = { ...half, x: full.x + half.width };
        const sum = (overlapOf(half, polygon) + overlapOf(other, polygon)) / 2;
        expect(overlapOf(full, polygon)).toBeCloseTo(sum, 9);
      }),
    );
    fc.assert(
      fc.property(star, (polygon) => {
        expect(overlapOf({ x: 0, y: 0, width: 1, height: 1 }, polygon)).toBeCloseTo(polygonArea(polygon), 9);
      }),
    );
  });
});

describe('the check of a polygon', () => {
  it('finds a crossing from every start corner and in both directions', () => {
    const bowTie: Point[] = [
      [0.1, 0.1],
      [0.9, 0.9],
      [0.9, 0.1],
      [0.1, 0.9],
    ];
    for (let i = 0; i < 4; i++) {
      const turned = [...bowTie.slice(i), ...bowTie.slice(0, i)];
      expect(polygonFault(turned)).toMatch(/crosses itself/);
      expect(polygonFault([...turned].reverse())).toMatch(/crosses itself/);
    }
  });

  it('accepts star-shaped polygons', () => {
    fc.assert(fc.property(star, (polygon) => expect(polygonFault(polygon)).toBeNull()));
  });

  it.each([
    [
      'refuses a corner twice',
      [
        [0, 0],
        [0, 0],
        [1, 1],
      ],
      /corner 0 twice/,
    ],
    [
      'refuses a side that folds back',
      [
        [0, 0],
        [1, 0],
        [0.5, 0],
      ],
      /folds back/,
    ],
    [
      'refuses a corner on another side',
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0.5, 0],
        [0, 1],
      ],
      /crosses itself/,
    ],
  ] as [string, Point[], RegExp][])('%s', (_what, polygon, fault) => {
    expect(polygonFault(polygon)).toMatch(fault);
  });
});
