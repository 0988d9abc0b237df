/** Everything that the scores are computed from, as one list of named numbers per pair. */
import { connectedCells, type Side } from '../base/images.js';
import type { Grain } from './grain.js';
import { measureEdgeChange, measureFineDifferences, measureGrainChange } from './measure-texture.js';
import type { Measurements } from './measurements.js';
import { fitLighting, type LightingFit, lightingResidual, showsTheSame, tintResidual } from './photometric.js';
import type { Plane } from './planes.js';
import type { Registration } from './registration.js';
import { correlation, mean, median, quantile } from './statistics.js';
import type { Tile, Tiles } from './tiles.js';

/**
 * @param registration null if the frames could not be registered
 * @param tiled both frames in the view of `before`; as they are if they could not be registered
 * @param luma of `before`, at working size
 * @param grains of both frames at their own resolution
 */
export function measure(
  registration: Registration | null,
  tiled: Tiles,
  luma: Plane,
  grains: Readonly<Record<Side, Grain>>,
): { readonly measurements: Measurements; readonly lighting: LightingFit } {
  const { tiles } = tiled;
  const lighting = fitLighting(tiles);
  const measurements: Measurements = {
    refused: registration === null ? 1 : 0,
    displacement: registration === null ? 0 : Math.log1p(640 * registration.displacement),
    hidden: registration === null ? 0 : 1 - registration.overlap,
    ...measureLight(tiles, lighting),
    ...measureColour(tiles),
    ...measureDetail(tiles, lighting),
    ...measureExposure(tiles),
    ...measureGrainChange(grains.before, grains.after),
    ...measureFineDifferences(tiled, luma, lighting),
    ...measureChanged(tiled, lighting),
    ...measureEdgeChange(tiled, luma),
  };
  return { measurements, lighting };
}

/** Uses the tiles that show the same thing in both frames. */
function measureLight(tiles: readonly Tile[], lighting: LightingFit) {
  const same = tiles.filter(showsTheSame);
  const residuals = same.map((tile) => lightingResidual(tile, lighting));
  const levels = same.map((t) => Math.log((t.after.luma + 8) / (t.before.luma + 8)));
  const gain = mean(lighting.gains);
  const [low, middle, high] = [0.08, 0.5, 0.92].map((share) => quantile(residuals, share)) as [number, number, number];
  return {
    gain: Math.abs(median(levels)),
    gamma: Math.abs(Math.log(lighting.gamma)),
    tint: Math.sqrt(lighting.gains.reduce((sum, k) => sum + (k - gain) ** 2, 0) / 3),
    shade: high - low,
    shade_depth: Math.max(middle - low, high - middle),
  };
}

/** Saturation is the mean over tiles of (max - min) of the channels, relative to their brightness. */
function measureColour(tiles: readonly Tile[]) {
  const saturation = (side: Side) =>
    mean(
      tiles.map(({ [side]: t }) => {
        const most = Math.max(t.red, t.green, t.blue);
        return (most - Math.min(t.red, t.green, t.blue)) / (most + 16);
      }),
    );
  const [before, after] = [saturation('before'), saturation('after')];
  const [least, most] = [Math.min(before, after), Math.max(before, after)];
  return {
    colour_kept: Math.log((least + 0.01) / (most + 0.01)),
    colourless: Math.exp(-least / 0.01),
    colour_lost: most - least,
  };
}

/** The brightest tiles are the 95 % quantile of brightness. */
function measureExposure(tiles: readonly Tile[]) {
  const levelsOf = (side: Side) => {
    const levels = tiles.map((t) => t[side].luma);
    const bright = quantile(levels, 0.95);
    return { bright, spread: bright - quantile(levels, 0.05) };
  };
  const [before, after] = [levelsOf('before'), levelsOf('after')];
  return {
    dark_after: Math.exp(-after.bright / 20),
    dark_fall: Math.log((before.bright + 8) / (after.bright + 8)),
    contrast_after: Math.log(after.spread + 4),
    contrast_fall: Math.log((before.spread + 4) / (after.spread + 4)),
  };
}

/** Contrast in levels: a tile has detail above DETAIL and is flat below FLAT. */
const DETAIL = 4;
const FLAT = 2;
/** Correlation: detail is kept above KEPT and lost below LOST. */
const KEPT = 0.6;
const LOST = 0.3;
/** Log units: tiles within these are as bright and as coloured as the lighting fit predicts. */
const SAME_LEVEL = 0.2;
const SAME_TINT = 0.12;
/** Log units: a flat tile further from the lighting fit shows another thing. */
const OTHER_LIGHT = 0.35;
/** Log units that damp the correlation, so that tiles of one brightness do not correlate by chance. */
const CORRELATION_FLOOR = 0.05;

function measureDetail(tiles: readonly Tile[], lighting: LightingFit) {
  const detailed = tiles.filter((t) => t.before.contrast > DETAIL);
  const fresh = tiles.filter((t) => t.after.contrast > DETAIL);
  const ratios = detailed.map((t) => Math.log((t.after.contrast + 1) / (t.before.contrast + 1)));
  const share = (of: readonly Tile[], test: (t: Tile) => boolean) =>
    of.length === 0 ? 0 : of.filter(test).length / of.length;
  return {
    structure_kept: share(detailed, (t) => t.correlation > KEPT),
    structure_lost: share(detailed, (t) => t.correlation < LOST),
    structure_new: share(fresh, (t) => t.correlation < LOST),
    covered: share(detailed, (t) => t.correlation < LOST && t.after.contrast < t.before.contrast / 2),
    detailed: detailed.length / Math.max(1, tiles.length),
    level_kept: share(tiles, (t) => Math.abs(lightingResidual(t, lighting)) < SAME_LEVEL),
    tone_kept: share(
      tiles,
      (t) => Math.abs(lightingResidual(t, lighting)) < SAME_LEVEL && tintResidual(t, lighting) < SAME_TINT,
    ),
    correlation: median(detailed.map((t) => t.correlation)),
    coarse_correlation: correlation(
      tiles.map((t) => Math.log(t.before.luma + 8)),
      tiles.map((t) => Math.log(t.after.luma + 8)),
      CORRELATION_FLOOR,
    ),
    detail_ratio: median(ratios),
    detail_ratio_best: quantile(ratios, 0.9),
    flat_gained: share(tiles, (t) => t.after.contrast < FLAT) - share(tiles, (t) => t.before.contrast < FLAT),
  };
}

/**
 * A tile shows another thing if its detail differs, or if it is flat and its brightness differs from the lighting
 * fit.
 */
function measureChanged({ tiles, columns, rows }: Tiles, lighting: LightingFit) {
  const changed = new Uint8Array(columns * rows);
  for (const tile of tiles) {
    const detailed = Math.max(tile.before.contrast, tile.after.contrast) > DETAIL;
    const other = detailed
      ? tile.correlation < LOST
      : Math.abs(lightingResidual(tile, lighting)) > OTHER_LIGHT && tile.correlation < LOST;
    if (other) changed[tile.row * columns + tile.column] = 1;
  }
  const total = changed.reduce((a, b) => a + b, 0);
  const cells = Math.max(1, columns * rows);
  return {
    changed_share: Math.log((total + 1) / cells),
    changed_largest: Math.log((largestComponent(changed, columns) + 1) / cells),
  };
}

/** Number of cells in the largest component. @param open as that of connectedCells */
const largestComponent = (open: Uint8Array, columns: number): number =>
  open.reduce(
    (largest, _, i) => (open[i] === 1 ? Math.max(largest, connectedCells(open, i, columns).length) : largest),
    0,
  );
