/** Changes that are places of a visit: where its thing stood, or where "before" still shows it. Pure. */
import { type Box, overlapsBy, type Side } from '../../base/images.js';

/** Time between a frame that shows the visit and one that shows the change, ms (set: a frame or two). */
const NEAR_MS = 2_000;
/** "Before" shows where the thing was some frames ago, ms (set). */
const BEFORE_MS = 60_000;
/** Share of the smaller box that both have in common (set). */
const SAME_PLACE = 0.3;

/** The regions of a change, and its first and last frame, ms. */
export interface ChangedPlace {
  readonly regions: readonly { readonly side: Side; readonly box: Box }[];
  readonly from: number;
  readonly until: number;
}

/** @param path of the visit, times in ms of the same clock */
export function isPlaceOf({ regions, from, until }: ChangedPlace, path: readonly (readonly [at: number, box: Box])[]) {
  return path.some(([at, place]) =>
    regions.some(
      ({ side, box }) =>
        at <= until + NEAR_MS &&
        at >= from - (side === 'before' ? BEFORE_MS : NEAR_MS) &&
        overlapsBy(box, place, SAME_PLACE),
    ),
  );
}
