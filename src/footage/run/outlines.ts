/** Outlines of the changed things of one comparison, for the records of a recording. Pure. */
import { type Box, SIDES } from '../../base/images.js';
import { outlineOf, type Point, type Ring } from '../../heatmaps/contour.js';
import type { HeatmapData } from '../../heatmaps/data.js';
import type { ChangeRegion } from '../../schemas/change.js';
import type { Outline } from '../records.js';

/** Corners that a contour keeps: enough for a smooth line around a thing in a picture of some hundred pixels. */
const MAX_POINTS = 48;
const DIGITS = 4;

/** @param regions the ones of the change: the contours of other things in the same frames are left out */
export function outlinesOf(
  heatmaps: Pick<HeatmapData, 'before' | 'after'>,
  regions: readonly Pick<ChangeRegion, 'side' | 'box'>[],
): Outline[] {
  return SIDES.flatMap((side) => {
    const boxes = regions.filter((region) => region.side === side).map(({ box }) => box);
    if (boxes.length === 0) return [];
    const map = heatmaps[side];
    // Boxes end at the borders of cells; the contour between the cells may lie a little outside.
    const margin = { x: 1 / map.width, y: 1 / map.height };
    return outlineOf(map)
      .filter((ring) => boxes.some((box) => ring.every((point) => isInside(point, box, margin))))
      .map((ring): Outline => ({ side, points: thinned(ring) }));
  });
}

function thinned(ring: Ring): [x: number, y: number][] {
  const step = Math.max(1, Math.ceil(ring.length / MAX_POINTS));
  const rounded = (value: number) => Number(Math.min(Math.max(value, 0), 1).toFixed(DIGITS));
  return ring.filter((_point, i) => i % step === 0).map(([x, y]) => [rounded(x), rounded(y)]);
}

const isInside = ([px, py]: Point, { x, y, width, height }: Box, margin: { x: number; y: number }): boolean =>
  px >= x - margin.x && px <= x + width + margin.x && py >= y - margin.y && py <= y + height + margin.y;
