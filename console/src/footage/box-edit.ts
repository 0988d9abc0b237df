/** Edits of a box on a frame. Pure. */
import type { Box } from '../api/types.js';
import { boundedWay, inFrame, type Point } from '../ui/drawing.js';

/** Smallest side of a box, as a share of the frame: a click draws none. */
const LEAST = 0.01;

/** A box in the middle of the frame, for the first edit by keyboard. */
export const MIDDLE: Box = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 };

/** From the upper left one, clockwise. */
export const cornersOf = ({ x, y, width, height }: Box): readonly Point[] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
];

/** @returns the box between two opposite corners; null if it is smaller than the least one */
export function boxBetween(a: Point, b: Point): Box | null {
  const [left, right] = [a[0], b[0]].map(inFrame).sort((one, other) => one - other) as [number, number];
  const [top, bottom] = [a[1], b[1]].map(inFrame).sort((one, other) => one - other) as [number, number];
  if (right - left < LEAST || bottom - top < LEAST) return null;
  return { x: left, y: top, width: inFrame(right - left), height: inFrame(bottom - top) };
}

/** Moves the whole box; it stays inside the frame with its size. */
export function moveBox(box: Box, [dx, dy]: Point): Box {
  const x = boundedWay(dx, [box.x, box.x + box.width]);
  const y = boundedWay(dy, [box.y, box.y + box.height]);
  return { ...box, x: inFrame(box.x + x), y: inFrame(box.y + y) };
}

/** @param index of the corner that moves; the opposite one stays */
export function moveCorner(box: Box, index: number, to: Point): Box {
  const fixed = cornersOf(box)[(index + 2) % 4] as Point;
  return boxBetween(fixed, to) ?? box;
}
