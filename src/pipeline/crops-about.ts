/** Choice of the region crops that show a change, for its search vector. */
import { type Box, overlapsBy, type Side } from '../base/images.js';
import type { RegionCrop } from '../model/regions.js';
import type { SourceFrameMapping } from './word-heatmaps.js';

/** A region of a change, in the pixels of the frames as they were sent. */
export interface ChangedPlace {
  readonly side: Side;
  readonly box: Box;
}

/** Share of the smaller box that a region of the crop and one of the change have in common (set, not fitted). */
const MIN_OVERLAP = 0.3;

/**
 * @param crops of the pair, the strongest first
 * @param most number of crops that one run takes
 * @returns those with a region of the change; without any, the strongest
 */
export function cropsAbout<C extends Pick<RegionCrop, 'regions'>>(
  places: readonly ChangedPlace[],
  crops: readonly C[],
  most: number,
  toSourceFrame: Pick<SourceFrameMapping, 'region'>,
): readonly C[] {
  const shows = ({ regions }: C): boolean =>
    regions.some((shown) => {
      const region = toSourceFrame.region(shown);
      return (
        region !== null &&
        places.some((place) => place.side === region.side && overlapsBy(place.box, region.box, MIN_OVERLAP))
      );
    });
  const shown = crops.filter(shows);
  return (shown.length > 0 ? shown : crops).slice(0, most);
}
