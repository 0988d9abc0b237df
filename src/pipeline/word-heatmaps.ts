/** What is shown of a finding: a map a word, and everything in the pixels of the frame that it is shown over. */

import type { HeatmapData } from '../heatmaps/data.js';
import type { Heatmap } from '../images.js';
import type { CaptionOutput, GlanceFeatures } from '../model/captioner.js';
import { wordHeatmap } from '../model/heatmap.js';
import type { Bundle } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import type { Sentence } from '../model/tokenizer.js';
import { isFunctionWord } from '../model/wording.js';
import type { Registration } from '../viewpoint/register.js';
import { carryBox, carryMap } from '../viewpoint/warp.js';

/** How to take what was found in before's view to after's own pixels. @param aligned null: both have one view */
export function ownPixels(aligned: Registration | null): {
  map(map: Heatmap): Heatmap;
  /** over either frame */
  words(maps: readonly Heatmap[]): HeatmapData['words'];
  regions(regions: readonly MapRegion[]): readonly MapRegion[];
} {
  if (aligned === null) {
    return {
      map: (map) => map,
      words: (maps) => ({ before: maps, after: maps }),
      regions: (regions) => regions,
    };
  }
  const { homography } = aligned;
  const carried = (map: Heatmap) => carryMap(map, homography);
  return {
    map: carried,
    words: (maps) => ({ before: maps, after: maps.map(carried) }),
    regions: (regions) =>
      regions.flatMap((region) => {
        if (region.side === 'before') return [region];
        const box = carryBox(region.box, homography);
        return box === null ? [] : [{ ...region, box }];
      }),
  };
}

/** One map a word, on the grid of the change maps. */
export function wordHeatmaps(
  { manifest }: Bundle,
  sentence: Sentence,
  caption: CaptionOutput & { readonly crops: readonly GlanceFeatures['crop'][] },
  grid: Heatmap,
): Heatmap[] {
  return sentence.words.map(({ text }, t) => {
    const weights = caption.attention[t];
    if (weights === undefined || isFunctionWord(text)) return emptyLike(grid);
    const { grid: memoryGrid, glance: glanceGrid } = manifest.attention;
    return wordHeatmap({ weights, memoryGrid, glanceGrid, crops: caption.crops }, grid.width, grid.height);
  });
}

export const emptyLike = ({ width, height }: Heatmap): Heatmap => ({
  width,
  height,
  data: new Float32Array(width * height),
});
