/** Plane geometry of zones: validity, area and overlap of polygons. Coordinates are fractions of the frame. Pure. */
import type { Box } from './images.js';

/** [x, y] */
export type Point = readonly [number, number];
/** Corners in order, clockwise or not; the last side leads back to the first corner. */
export type Polygon = readonly Point[];

/** Share of the frame. A smaller polygon is a mistake of drawing, and no region could overlap it. */
const MIN_AREA = 1e-6;

/** @returns why the corners do not outline one area; null if they do. The schema checks the range 0..1. */
export function polygonFault(polygon: Polygon): string | null {
  const n = polygon.length;
  const corner = (i: number) => polygon[i % n] as Point;
  for (let i = 0; i < n; i++) {
    const [x, y] = corner(i);
    const [nextX, nextY] = corner(i + 1);
    if (x === nextX && y === nextY) return `has the corner ${i} twice in a row`;
  }
  for (let i = 0; i < n; i++) {
    // Neighbouring sides share a corner, so they may touch, but not fold back on each other.
    if (foldsBack(corner(i), corner(i + 1), corner(i + 2))) return `folds back on itself at corner ${(i + 1) % n}`;
    for (let j = i + 2; j < n; j++) {
      if (i === 0 && j === n - 1) continue;
      if (meet(corner(i), corner(i + 1), corner(j), corner(j + 1))) {
        return `crosses itself: side ${i} meets side ${j}`;
      }
    }
  }
  return polygonArea(polygon) < MIN_AREA ? 'has no area' : null;
}

/** Shoelace formula. @returns the area as a share of the frame, 0..1 */
export function polygonArea(polygon: Polygon): number {
  let twice = 0;
  for (let i = 0; i < polygon.length; i++) {
    const [x, y] = polygon[i] as Point;
    const [nextX, nextY] = polygon[(i + 1) % polygon.length] as Point;
    twice += x * nextY - nextX * y;
  }
  return Math.abs(twice) / 2;
}

/**
 * Sutherland-Hodgman clipping (Reentrant Polygon Clipping, 1974). The box is convex, so the clipped area is exact even
 * if the polygon is not convex: separate parts are joined by bridges without area.
 * @returns the share of the box that lies in the polygon, 0..1; 0 for a box without area
 */
export function overlapOf(box: Box, polygon: Polygon): number {
  const area = box.width * box.height;
  if (area <= 0) return 0;
  const inside = [
    ([x]: Point) => x - box.x,
    ([x]: Point) => box.x + box.width - x,
    ([, y]: Point) => y - box.y,
    ([, y]: Point) => box.y + box.height - y,
  ].reduce<Polygon>(cutAlong, polygon);
  return Math.min(1, polygonArea(inside) / area);
}

/** @param depth signed distance of a point from the cutting line, negative outside */
function cutAlong(polygon: Polygon, depth: (point: Point) => number): Polygon {
  const kept: Point[] = [];
  for (let i = 0; i < polygon.length; i++) {
    const from = polygon[i] as Point;
    const to = polygon[(i + 1) % polygon.length] as Point;
    const [a, b] = [depth(from), depth(to)];
    if (a >= 0) kept.push(from);
    if (a < 0 !== b < 0) {
      const t = a / (a - b);
      kept.push([from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])]);
    }
  }
  return kept;
}

/** @returns a number above 0 if c lies left of the line from a to b */
const side = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

const between = (a: Point, b: Point, c: Point): boolean =>
  Math.min(a[0], b[0]) <= c[0] &&
  c[0] <= Math.max(a[0], b[0]) &&
  Math.min(a[1], b[1]) <= c[1] &&
  c[1] <= Math.max(a[1], b[1]);

/** Whether the segments ab and cd have a point in common. */
function meet(a: Point, b: Point, c: Point, d: Point): boolean {
  const [abc, abd, cda, cdb] = [side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)];
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (
    (abc === 0 && between(a, b, c)) ||
    (abd === 0 && between(a, b, d)) ||
    (cda === 0 && between(c, d, a)) ||
    (cdb === 0 && between(c, d, b))
  );
}

/** Whether the side bc runs back along the side ab. */
const foldsBack = (a: Point, b: Point, c: Point): boolean =>
  side(a, b, c) === 0 && (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) > 0;
