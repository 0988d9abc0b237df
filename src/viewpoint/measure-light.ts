/** Measurements of light and colour. */
import type { Side } from '../images.js';
import { type LightingFit, lightingResidual, showsTheSame } from './photometric.js';
import { mean, median, quantile } from './statistics.js';
import type { Tile } from './tiles.js';

/** Uses the tiles that show the same thing in both frames. */
export function measureLight(tiles: readonly Tile[], lighting: LightingFit) {
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
export function measureColour(tiles: readonly Tile[]) {
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
export function measureExposure(tiles: readonly Tile[]) {
  const levels = (side: Side) => tiles.map((t) => t[side].luma);
  const spread = (values: readonly number[]) => quantile(values, 0.95) - quantile(values, 0.05);
  const [before, after] = [levels('before'), levels('after')];
  const bright = (values: readonly number[]) => quantile(values, 0.95);
  return {
    dark_after: Math.exp(-bright(after) / 20),
    dark_fall: Math.log((bright(before) + 8) / (bright(after) + 8)),
    contrast_after: Math.log(spread(after) + 4),
    contrast_fall: Math.log((spread(before) + 4) / (spread(after) + 4)),
  };
}
