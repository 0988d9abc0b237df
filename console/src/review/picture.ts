/** Which part of which frame shows a change. Pure. */
import type { Box, Change, Side } from '../api/types.js';

/** @returns the frame of its best comparison that shows the thing, and where; a change of the whole frame has no box */
export function pictureOf({ regions, comparisons, kind }: Pick<Change, 'regions' | 'comparisons' | 'kind'>) {
  // A thing that has left is in the frame before.
  const side: Side = regions.length > 0 && regions.every((region) => region.side === 'before') ? 'before' : 'after';
  const boxes = kind === 'tamper' ? [] : regions.filter((region) => region.side === side).map(({ box }) => box);
  return { comparison: comparisons.best, side, box: around(boxes) };
}

/** @returns the box around all of them; null: there is none */
function around(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null;
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}
