/**
 * Heatmaps of the caption's words, and the mapping of all results from the view of `before` to the pixels of `after`.
 */
import type { Heatmap, Side } from '../base/images.js';
import type { HeatmapData } from '../heatmaps/data.js';
import { isFunctionWord } from '../language/plain.js';
import { wordHeatmap } from '../model/heatmap.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { carryBox, carryMap } from '../viewpoint/carry.js';
import type { Registration } from '../viewpoint/registration.js';
import type { ChangeSentence } from './sentence.js';

/** Carries results that lie on the view of `before` to the frame that they are shown over. */
export interface SourceFrameMapping {
  /** @returns the map over `after` */
  map(map: Heatmap): Heatmap;
  /** @returns the word heatmaps over either frame, of those that both lie on the view of `before` */
  words(maps: HeatmapData['words']): HeatmapData['words'];
  /** @returns null for a region of `after` that leaves its frame */
  region<R extends Pick<MapRegion, 'side' | 'box'>>(region: R): R | null;
}

/** @param alignment the registration that `after` was warped by; null = both frames have one view */
export function mapToSourceFrame(alignment: Registration | null): SourceFrameMapping {
  const map = (given: Heatmap) => (alignment === null ? given : carryMap(given, alignment.homography));
  return {
    map,
    words: ({ before, after }) => ({ before, after: after.map(map) }),
    region: (region) => {
      if (alignment === null || region.side === 'before') return region;
      const box = carryBox(region.box, alignment.homography);
      return box === null ? null : { ...region, box };
    },
  };
}

/**
 * @param attention of the manifest: the grids of the decoder memory and of a region crop, whose key there is `glance`
 * @param grid a map whose grid the heatmaps take
 * @returns one heatmap per word and side, one list for both if a cell of the memory is of both frames; all zero for
 *   function words and for words without attention
 */
export function wordHeatmaps(
  { sentence, attention: rows }: Pick<ChangeSentence, 'sentence' | 'attention'>,
  { glance: cropGrid, ...memory }: BundleManifest['attention'],
  grid: Heatmap,
): HeatmapData['words'] {
  const mapsOf = (side: Side) =>
    sentence.words.map(({ text }, t) => {
      const attended = rows[t] ?? null;
      if (attended === null || isFunctionWord(text)) return emptyLike(grid);
      const [first, ...others] = [attended, ...(attended.others ?? [])].map((one) =>
        wordHeatmap({ ...one, memory, cropGrid }, side, grid.width, grid.height),
      );
      return others.reduce(highest, first as Heatmap);
    });
  const before = mapsOf('before');
  return { before, after: memory.layout?.sides === 2 ? mapsOf('after') : before };
}

/** The greater value of each cell. */
const highest = (a: Heatmap, b: Heatmap): Heatmap => ({
  ...a,
  data: a.data.map((value, cell) => Math.max(value, b.data[cell] as number)),
});

/** @returns a heatmap of zeros on the same grid */
export const emptyLike = ({ width, height }: Heatmap): Heatmap => ({
  width,
  height,
  data: new Float32Array(width * height),
});
