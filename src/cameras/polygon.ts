/** Plane geometry of zones, in fractions of the frame. Pure. */
import type { Box } from '../images.js';

/** [x, y] */
export type Point = readonly [number, number];
/** Corners in order, either way round; the last side closes it. */
export type Polygon = readonly Point[];

/** Smaller ones are slips of the finger, and nothing could overlap them. */
const MIN_AREA = 1e-6;

/** Why these corners are not the outline of one area; null where they are. The range 0..1 is the schema's to check. */
export function polygonFault(polygon: Polygon): string | null {
  const n = polygon.length;
  const corner = (i: number) => polygon[i % n] as Point;
  for (let i = 0; i < n; i++) {
    const [x, y] = corner(i);
    const [nextX, nextY] = corner(i + 1);
    if (x === nextX && y === nextY) return `has the corner ${i} twice in a row`;
  }
  for (let i = 0; i < n; i++) {
    // neighbours share a corner: they may only not fold back on each other
    if (foldsBack(corner(i), corner(i + 1), corner(i + 2)))
      return `folds back on itself at corner ${(i + 1) % n}`;
    for (let j = i + 2; j < n; j++) {
      if (i === 0 && j === n - 1) continue;
      if (meet(corner(i), corner(i + 1), corner(j), corner(j + 1))) {
        return `crosses itself: side ${i} meets side ${j}`;
      }
    }
  }
  return polygonArea(polygon) < MIN_AREA ? 'has no area' : null;
}

/** Shoelace formula. @returns the area as a share of the frame */
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
 * Sutherland and Hodgman: the box is convex, so cutting the polygon along its four sides keeps the area of what lies inside also
 * where the polygon is not convex (parts are then joined by bridges without area).
 * @returns the share of the box that lies in the polygon, 0..1; 0 for a box without area.
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

/** @param depth how far inside a point is; negative outside */
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

/** > 0: c is left of the line from a to b */
const side = (a: Point, b: Point, c: Point): number =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

const between = (a: Point, b: Point, c: Point): boolean =>
  Math.min(a[0], b[0]) <= c[0] &&
  c[0] <= Math.max(a[0], b[0]) &&
  Math.min(a[1], b[1]) <= c[1] &&
  c[1] <= Math.max(a[1], b[1]);

/** Whether two segments have a point in common. */
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

/** b to c runs along b to a, back over what was drawn */
const foldsBack = (a: Point, b: Point, c: Point): boolean =>
  side(a, b, c) === 0 && (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) > 0;
