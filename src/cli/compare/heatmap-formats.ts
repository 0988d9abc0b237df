/** Formats of `scenedelta compare --heatmap`, by the file's extension: checked before pair.ts and its encoders load. */
export const HEATMAP_FORMATS = ['.png', '.jpg', '.jpeg'] as const;
export type HeatmapFormat = (typeof HEATMAP_FORMATS)[number];
