/** Outlines on the frames of a recorded change. */
import { pathOf } from '../../../src/heatmaps/contour.js';
import type { Side } from '../api/types.js';
import { boxPath, type Outlines, UNITS } from '../pair/outlines.js';
import type { RecordedChange } from './store.js';

type Contoured = Pick<RecordedChange, 'outlines'> & {
  readonly regions: readonly Pick<RecordedChange['regions'][number], 'side' | 'box'>[];
};

/** SVG paths of the contours; the boxes of the regions without contours. */
export function outlinesOf({ outlines, regions }: Contoured): Outlines {
  const path = (side: Side) =>
    outlines === undefined
      ? boxPath(regions.filter((region) => region.side === side).map(({ box }) => box))
      : pathOf(
          outlines.filter((outline) => outline.side === side).map(({ points }) => points),
          UNITS,
          UNITS,
        );
  return { before: path('before'), after: path('after') };
}
