/**
 * Lighting fit: the light of `after` as a function of that of `before`. Per channel c, log(after + 8) = k_c + gamma
 * log(before + 8), fitted to the tiles that show the same thing in both frames. The gain is exp(k_c); the 8 damps
 * noise in the dark.
 */
import { median } from './statistics.js';
import type { Tile, TileOfFrame } from './tiles.js';

export interface LightingFit {
  /** log gain of red, green, blue */
  readonly gains: readonly [number, number, number];
  readonly gamma: number;
}

const DARK = 8;
const logLevel = (level: number): number => Math.log(level + DARK);
const ROUNDS = 6;
/** Log units; tiles further from the fit are under another light or show another thing. */
const OUTLIER = 0.5;
const MOST_GAMMA = 3;
/** Levels: the sensor clips darker and brighter tiles, so they carry no gain. */
const CUT_OFF = { low: 3, high: 250 } as const;

/** Whether the detail of both frames correlates, or neither frame has any. */
export const showsTheSame = (tile: Tile): boolean =>
  tile.correlation > 0.5 || (tile.before.contrast < 2.5 && tile.after.contrast < 2.5);

/** @returns no change of light (gain 1, gamma 1) if fewer than 8 tiles can be compared */
export function fitLighting(tiles: readonly Tile[]): LightingFit {
  const usable = tiles.filter(
    (t) =>
      showsTheSame(t) &&
      Math.min(t.before.luma, t.after.luma) > CUT_OFF.low &&
      Math.max(t.before.luma, t.after.luma) < CUT_OFF.high,
  );
  if (usable.length < 8) return { gains: [0, 0, 0], gamma: 1 };
  const xs = usable.map((t) => logLevel(t.before.luma));
  const ys = usable.map((t) => logLevel(t.after.luma));
  const line = robustLine(xs, ys);
  const gains = (['red', 'green', 'blue'] as const).map((channel) =>
    median(usable.map((t) => logLevel(t.after[channel]) - line.gamma * logLevel(t.before[channel]))),
  ) as [number, number, number];
  return { gains, gamma: line.gamma };
}

/** How much brighter (log units) the tile is in `after` than the fit predicts. */
export function lightingResidual(tile: Tile, { gains, gamma }: LightingFit): number {
  const k = 0.299 * gains[0] + 0.587 * gains[1] + 0.114 * gains[2];
  return logLevel(tile.after.luma) - k - gamma * logLevel(tile.before.luma);
}

/**
 * How much redder or bluer than green (log units; the greater of both) the tile is in `after` than the fit predicts.
 */
export function tintResidual({ before, after }: Tile, { gains, gamma }: LightingFit): number {
  const off = (channel: 'red' | 'blue', gain: number) => {
    const tint = (t: TileOfFrame) => logLevel(t[channel]) - logLevel(t.green);
    return Math.abs(tint(after) - gain + gains[1] - gamma * tint(before));
  };
  return Math.max(off('red', gains[0]), off('blue', gains[2]));
}

/** The luma level in `after` that the fit predicts for a level of `before`, 0..255. */
export function relit(level: number, { gains, gamma }: LightingFit): number {
  const k = 0.299 * gains[0] + 0.587 * gains[1] + 0.114 * gains[2];
  return Math.min(255, Math.max(0, Math.exp(k + gamma * logLevel(level)) - DARK));
}

/** y = k + gamma x by iteratively reweighted least squares with Tukey's biweight. */
function robustLine(xs: readonly number[], ys: readonly number[]): { k: number; gamma: number } {
  let line = { k: median(ys.map((y, i) => y - (xs[i] as number))), gamma: 1 };
  for (let round = 0; round < ROUNDS; round++) {
    let [sw, sx, sy, sxx, sxy] = [0, 0, 0, 0, 0];
    for (let i = 0; i < xs.length; i++) {
      const [x, y] = [xs[i] as number, ys[i] as number];
      const share = (y - line.k - line.gamma * x) / OUTLIER;
      const w = Math.abs(share) < 1 ? (1 - share * share) ** 2 : 0;
      sw += w;
      sx += w * x;
      sy += w * y;
      sxx += w * x * x;
      sxy += w * x * y;
    }
    // A ridge towards gamma = 1, because a scene of one brightness does not determine gamma.
    const ridge = 0.01 * xs.length;
    const [mx, my] = [sx / Math.max(sw, 1e-9), sy / Math.max(sw, 1e-9)];
    const gamma = (sxy - sw * mx * my + ridge) / (sxx - sw * mx * mx + ridge);
    const bounded = Math.min(MOST_GAMMA, Math.max(1 / MOST_GAMMA, gamma));
    line = { k: my - bounded * mx, gamma: bounded };
  }
  return line;
}
