/** Contours of a heatmap: closed curves around the area whose values reach a level. */
import { contours } from 'd3-contour';
import type { Heatmap } from '../base/images.js';
import { enlarge } from './splines.js';

/** In fractions of the frame, origin top left. */
export type Point = readonly [x: number, y: number];
/** A closed curve through at least three points; the last one is connected with the first. */
export type Ring = readonly Point[];

/**
 * Values from which a cell lies inside the outline. The shipped bundles count a cell of a change map as changed from
 * this value on (`regions.threshold`); for the map of a word, whose maximum is 1, it is the half maximum.
 */
const OUTLINE_LEVEL = 0.5;
/** Samples per cell and axis: the curve between the cells follows the splines of the other styles. */
const SAMPLES_PER_CELL = 4;

/** @returns the contours of the enlarged map, without corners; holes are rings of the opposite direction */
export function outlineOf(map: Heatmap, level = OUTLINE_LEVEL): Ring[] {
  const [width, height] = [map.width * SAMPLES_PER_CELL, map.height * SAMPLES_PER_CELL];
  // Its type asks for an array, but it only reads by index. It repeats the first point of a ring at the end.
  const values = enlarge(map, width, height).data as unknown as number[];
  const rings = contours().size([width, height]).contour(values, level).coordinates.flat();
  return rings.map((ring) =>
    cutCorners(cutCorners(ring.slice(1).map(([x, y]) => [(x as number) / width, (y as number) / height]))),
  );
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

/** @returns the rings as data of an SVG path, in units of `width` x `height` per frame; empty without rings */
export function pathOf(rings: readonly Ring[], width: number, height: number): string {
  const shown = ([x, y]: Point) => `${(x * width).toFixed(2)} ${(y * height).toFixed(2)}`;
  return rings.map((ring) => `M${ring.map(shown).join('L')}Z`).join('');
}
