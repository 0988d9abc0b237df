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

/**
 * @param crops and the other arguments as for `cropsAbout`. @param run of the graph `pair`
 * @returns the search vector of the changes at `places`; absent: of the pair. Changes that the same crops show have one
 */
export function embedder<C extends Pick<RegionCrop, 'regions'>>(
  crops: readonly C[],
  most: number,
  toSourceFrame: Pick<SourceFrameMapping, 'region'>,
  run: (crops: readonly C[]) => Promise<Float32Array>,
): (places?: readonly ChangedPlace[]) => Promise<Float32Array> {
  const vectors = new Map<string, Promise<Float32Array>>();
  return (places) => {
    const shown = places ? cropsAbout(places, crops, most, toSourceFrame) : crops.slice(0, most);
    const key = shown.map((crop) => crops.indexOf(crop)).join();
    const vector = vectors.get(key) ?? run(shown);
    vectors.set(key, vector);
    return vector;
  };
}
