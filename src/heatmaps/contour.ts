/** Contours of a heatmap: closed curves around the area whose values reach a level (marching squares). */
import type { Heatmap } from '../images.js';
import { enlarge } from './splines.js';

/** In fractions of the frame, origin top left. */
export type Point = readonly [x: number, y: number];
/** A closed curve through at least three points; the last one is connected with the first. */
export type Ring = readonly Point[];

/**
 * Values from which a cell lies inside the outline. The shipped bundles count a cell of a change map as changed from
 * this value on (`regions.threshold`); for the map of a word, whose maximum is 1, it is the half maximum.
 */
export const OUTLINE_LEVEL = 0.5;
/** Samples per cell and axis: the curve between the cells follows the splines of the other styles. */
const SAMPLES_PER_CELL = 4;

/** @returns the contours of the enlarged map, without corners; holes are rings of the opposite direction */
export function outlineOf(map: Heatmap, level = OUTLINE_LEVEL): Ring[] {
  const rings = contours(enlarge(map, map.width * SAMPLES_PER_CELL, map.height * SAMPLES_PER_CELL), level);
  return rings.map((ring) => cutCorners(cutCorners(ring)));
}

/** One step of Chaikin's algorithm: each corner is replaced by two points, at a quarter of its two segments. */
function cutCorners(ring: Ring): Ring {
  return ring.flatMap(([x, y], i) => {
    const [nextX, nextY] = ring[(i + 1) % ring.length] as Point;
    return [
      [0.75 * x + 0.25 * nextX, 0.75 * y + 0.25 * nextY],
      [0.25 * x + 0.75 * nextX, 0.25 * y + 0.75 * nextY],
    ] as const;
  });
}

/** Outside of the map the value is 0, so that every contour is closed; it then runs along the border. */
function contours(map: Heatmap, level: number): Ring[] {
  const { width, height, data } = map;
  const at = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? 0 : (data[y * width + x] as number);
  const inside = (x: number, y: number) => at(x, y) >= level;
  // Each crossed edge between two samples belongs to two squares: it ends a segment in one and begins one in the other.
  const next = new Map<number, number>();
  const points = new Map<number, Point>();
  const stride = width + 2;
  const idOf = (x: number, y: number, vertical: boolean) => ((y + 1) * stride + x + 1) * 2 + Number(vertical);
  const crossing = (x: number, y: number, vertical: boolean): number => {
    const id = idOf(x, y, vertical);
    if (points.has(id)) return id;
    const [a, b] = [at(x, y), vertical ? at(x, y + 1) : at(x + 1, y)];
    const t = (level - a) / (b - a);
    points.set(id, [fraction(x + 0.5 + (vertical ? 0 : t), width), fraction(y + 0.5 + (vertical ? t : 0), height)]);
    return id;
  };
  for (let y = -1; y < height; y++) {
    for (let x = -1; x < width; x++) {
      const corners =
        Number(inside(x, y)) +
        2 * Number(inside(x + 1, y)) +
        4 * Number(inside(x + 1, y + 1)) +
        8 * Number(inside(x, y + 1));
      if (corners === 0 || corners === 15) continue;
      const edges = [
        () => crossing(x, y, false),
        () => crossing(x + 1, y, true),
        () => crossing(x, y + 1, false),
        () => crossing(x, y, true),
      ] as const;
      const middle = at(x, y) + at(x + 1, y) + at(x + 1, y + 1) + at(x, y + 1);
      for (const [from, to] of segmentsOf(corners, middle / 4 >= level)) next.set(edges[from](), edges[to]());
    }
  }
  return ringsOf(next, points);
}

type Edge = 0 | 1 | 2 | 3;
type Segment = readonly [from: Edge, to: Edge];
/** Edges: 0 top, 1 right, 2 bottom, 3 left. Corners: 1 top left, 2 top right, 4 bottom right, 8 bottom left. */
const SEGMENTS: Readonly<Record<number, readonly Segment[]>> = {
  1: [[3, 0]],
  2: [[0, 1]],
  3: [[3, 1]],
  4: [[1, 2]],
  6: [[0, 2]],
  7: [[3, 2]],
  8: [[2, 3]],
  9: [[2, 0]],
  11: [[2, 1]],
  12: [[1, 3]],
  13: [[1, 0]],
  14: [[0, 3]],
};

/** Two opposite corners are connected if the middle of the square lies inside. */
function segmentsOf(corners: number, connected: boolean): readonly Segment[] {
  if (corners === 5)
    return connected
      ? [
          [3, 2],
          [1, 0],
        ]
      : [
          [3, 0],
          [1, 2],
        ];
  if (corners === 10)
    return connected
      ? [
          [0, 3],
          [2, 1],
        ]
      : [
          [0, 1],
          [2, 3],
        ];
  return SEGMENTS[corners] ?? [];
}

function ringsOf(next: Map<number, number>, points: ReadonlyMap<number, Point>): Ring[] {
  const rings: Ring[] = [];
  for (const start of next.keys()) {
    const ring: Point[] = [];
    for (let edge: number | undefined = start; edge !== undefined && next.has(edge); ) {
      ring.push(points.get(edge) as Point);
      const following: number | undefined = next.get(edge);
      next.delete(edge);
      edge = following;
    }
    if (ring.length >= 3) rings.push(ring);
  }
  return rings;
}

/** Samples lie in the middle of their cells; the samples outside of the map would lie outside of the frame. */
const fraction = (position: number, cells: number): number => Math.min(Math.max(position / cells, 0), 1);

/** @returns the rings as data of an SVG path, in units of `width` x `height` per frame; empty without rings */
export function pathOf(rings: readonly Ring[], width: number, height: number): string {
  const shown = ([x, y]: Point) => `${(x * width).toFixed(2)} ${(y * height).toFixed(2)}`;
  return rings.map((ring) => `M${ring.map(shown).join('L')}Z`).join('');
}
