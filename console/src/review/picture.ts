/** Which part of which frame shows a change. Pure. */
import { boxAround } from '../../../src/base/box-around.js';
import type { Change, Side } from '../api/types.js';

/** @returns the frame of its best comparison that shows the thing, and where; a change of the whole frame has no box */
export function pictureOf({ regions, comparisons, kind }: Pick<Change, 'regions' | 'comparisons' | 'kind'>) {
  // A thing that has left is in the frame before.
  const side: Side = regions.length > 0 && regions.every((region) => region.side === 'before') ? 'before' : 'after';
  const boxes = kind === 'tamper' ? [] : regions.filter((region) => region.side === side).map(({ box }) => box);
  return { comparison: comparisons.best, side, box: boxAround(boxes) };
}
