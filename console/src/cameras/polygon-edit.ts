/** Edits of a zone's polygon. Coordinates are fractions of the frame. Pure. */
import type { Zone } from '../api/types.js';
import { boundedWay, inFrame, type Point } from '../ui/drawing.js';

export type Polygon = readonly Point[];

/** @returns the corners; the generated types do not know that each has two numbers */
export const polygonOf = ({ polygon }: Pick<Zone, 'polygon'>): Polygon =>
  polygon.map(([x = 0, y = 0]): Point => [x, y]);

/** Distance at which a corner jumps to a border or another corner, as a share of the frame. */
const SNAP = 0.015;
const LEAST_CORNERS = 3;

/** @returns the corner at the nearest border or other corner within the distance, else unchanged */
export function snapped([x, y]: Point, others: readonly Point[], within = SNAP): Point {
  const near = others
    .map((corner) => ({ corner, distance: Math.hypot(corner[0] - x, corner[1] - y) }))
    .filter(({ distance }) => distance <= within)
    .sort((a, b) => a.distance - b.distance)[0];
  if (near !== undefined) return near.corner;
  const toBorder = (value: number) => (value <= within ? 0 : value >= 1 - within ? 1 : value);
  return [toBorder(x), toBorder(y)];
}

export const moveCorner = (polygon: Polygon, index: number, [x, y]: Point): Polygon =>
  polygon.map((corner, i): Point => (i === index ? [inFrame(x), inFrame(y)] : corner));

/** Moves the whole zone; it stays inside the frame with its shape. */
export function moveAll(polygon: Polygon, dx: number, dy: number): Polygon {
  const x = boundedWay(
    dx,
    polygon.map((corner) => corner[0]),
  );
  const y = boundedWay(
    dy,
    polygon.map((corner) => corner[1]),
  );
  return polygon.map((corner): Point => [inFrame(corner[0] + x), inFrame(corner[1] + y)]);
}

/** Adds a corner in the middle of the side that follows the corner `index`. */
export function addCorner(polygon: Polygon, index: number): Polygon {
  const [a, b] = [polygon[index], polygon[(index + 1) % polygon.length]] as [Point, Point];
  const middle: Point = [inFrame((a[0] + b[0]) / 2), inFrame((a[1] + b[1]) / 2)];
  return polygon.toSpliced(index + 1, 0, middle);
}

/** @returns the polygon without the corner; as it is if it has only three */
export const removeCorner = (polygon: Polygon, index: number): Polygon =>
  polygon.length <= LEAST_CORNERS ? polygon : polygon.toSpliced(index, 1);

/** @returns a new zone in the middle of the frame, with an id that no other zone has */
export function newZone(zones: readonly Zone[], type: Zone['type']): Zone {
  let number = zones.length + 1;
  while (zones.some(({ id }) => id === `zone-${number}`)) number++;
  return {
    id: `zone-${number}`,
    name: null,
    preposition: null,
    type,
    polygon: [
      [0.35, 0.35],
      [0.65, 0.35],
      [0.65, 0.65],
      [0.35, 0.65],
    ],
    min_overlap: 0.3,
    min_area: null,
    threshold: null,
    severity: null,
  };
}
