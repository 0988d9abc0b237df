/** Measurements of what is finer than a tile: noise, sharpness, fine differences, edges. */
import type { Side } from '../base/images.js';
import type { Grain } from './grain.js';
import { type LightingFit, relit, showsTheSame } from './photometric.js';
import type { Plane } from './planes.js';
import { median, quantile } from './statistics.js';
import { TILE, type Tile, type Tiles } from './tiles.js';

export function measureGrainChange(before: Grain, after: Grain) {
  const noise = Math.log((after.noise + 0.5) / (before.noise + 0.5));
  const sharpness = Math.log((after.sharpness + 0.5) / (before.sharpness + 0.5));
  return {
    noise_change: Math.abs(noise),
    noise_most: Math.log(Math.max(after.noise, before.noise) + 0.5),
    sharpness_change: Math.abs(sharpness),
    sharpness_fall: Math.max(0, -sharpness),
    blocks_change: Math.abs(after.blocks - before.blocks),
    blocks_most: Math.max(after.blocks, before.blocks),
    blank_change: Math.abs(after.blank - before.blank),
    streaks_change: Math.abs(after.streaks - before.streaks),
  };
}

/**
 * The differences that remain after alignment and the lighting fit, in tiles that show the same thing in both frames.
 * Every other tile is measured, as on a chessboard: all tiles give no better numbers.
 */
export function measureFineDifferences({ tiles, afterLuma }: Tiles, luma: Plane, lighting: LightingFit) {
  const table = Float64Array.from({ length: 256 }, (_, level) => relit(level, lighting));
  const rest = new Float64Array(TILE * TILE);
  let count = 0;
  let squares = 0;
  let cubes = 0;
  let vertical = 0;
  let horizontal = 0;
  for (const tile of tiles) {
    if ((tile.row + tile.column) % 2 !== 0 || !showsTheSame(tile)) continue;
    let sum = 0;
    for (let y = 0, k = 0; y < TILE; y++) {
      let i = (tile.row * TILE + y) * luma.width + tile.column * TILE;
      for (let x = 0; x < TILE; x++, i++, k++) {
        const level = ((luma.data[i] as number) + 0.5) | 0;
        const d = (afterLuma.data[i] as number) - (table[level] as number);
        rest[k] = d;
        sum += d;
      }
    }
    const mean = sum / (TILE * TILE);
    for (let y = 0; y < TILE - 2; y++) {
      for (let k = y * TILE, end = k + TILE - 2; k < end; k++) {
        const d = (rest[k] as number) - mean;
        squares += d * d;
        cubes += d * d * d;
        vertical += d * ((rest[k + 2 * TILE] as number) - mean);
        horizontal += d * ((rest[k + 2] as number) - mean);
      }
    }
    count += (TILE - 2) ** 2;
  }
  const variance = squares / Math.max(1, count);
  const scale = variance + 0.05;
  return {
    rest_level: Math.log(Math.sqrt(variance) + 0.3),
    rest_skew: Math.abs(cubes / Math.max(1, count)) / scale ** 1.5,
    rest_vertical: vertical / Math.max(1, count) / scale,
    rest_horizontal: horizontal / Math.max(1, count) / scale,
  };
}

/** Log steepness. In 19 of 20 synthetic frames without tampering the strongest edges are steeper. */
const SOFT = -1.4;

export function measureEdgeChange(tiled: Tiles, luma: Plane) {
  const { change, before, after } = measureEdges(tiled, luma);
  return { edge_change: change, edge_before: before, edge_after: after, edge_soft: Math.max(0, SOFT - after) };
}

interface Edges {
  /**
   * median over the tiles that show the same edge: steepness of `after` minus that of `before`; shrunk to 0 for few
   * tiles
   */
  readonly change: number;
  /** steepness of the strongest tiles of the frame, which may show things that appeared; 0 if there are none */
  readonly before: number;
  readonly after: number;
}

/** Number of tiles with the strongest edges that are used; the others are closer to the noise. */
const MOST_TILES = 40;
/** Levels: a tile with less contrast has no edge. */
const LEAST_CONTRAST = 3;
/** Correlation above which a tile shows the same edge in both frames. */
const SAME = 0.5;
/** With this number of tiles the change is halved, because in a bare place some tiles correlate by chance. */
const FEW = 8;

function measureEdges(tiled: Tiles, beforeLuma: Plane): Edges {
  const lumas = { before: beforeLuma, after: tiled.afterLuma };
  const inner = tiled.tiles.filter((tile) => hasSurroundings(tile, tiled));
  const ofOwn = (side: Side) => steepnessOf(strongest(inner, side).map((tile) => bandsOf(tile, lumas[side])));
  const changes = strongest(
    inner.filter(({ correlation }) => correlation > SAME),
    'before',
  ).map((tile) => steepnessOf([bandsOf(tile, lumas.after)]) - steepnessOf([bandsOf(tile, lumas.before)]));
  const trust = changes.length / (changes.length + FEW);
  return { change: trust * median(changes), before: ofOwn('before'), after: ofOwn('after') };
}

function strongest(tiles: readonly Tile[], side: Side): Tile[] {
  const contrasts = tiles.map((tile) => tile[side].contrast);
  const least = quantile(contrasts, Math.max(0, 1 - MOST_TILES / tiles.length));
  return tiles
    .filter((_, i) => (contrasts[i] as number) > LEAST_CONTRAST && (contrasts[i] as number) >= least)
    .sort((a, b) => b[side].contrast - a[side].contrast)
    .slice(0, MOST_TILES);
}

/** Whether both frames show COARSE pixels around the tile. */
function hasSurroundings({ column, row }: Tile, { columns, rows, afterLuma: { width, data } }: Tiles): boolean {
  if (column === 0 || row === 0 || column === columns - 1 || row === rows - 1) return false;
  const [left, top] = [column * TILE - COARSE, row * TILE - COARSE];
  return [0, SIDE - 1].every((y) =>
    [0, SIDE - 1].every((x) => !Number.isNaN(data[(top + y) * width + left + x] as number)),
  );
}

/** Radii of the means in working pixels: fine is what the smaller mean removes, coarse the difference of both means. */
const FINE = 1;
const COARSE = 3;
const SIDE = TILE + 2 * COARSE;

interface Bands {
  readonly fine: number;
  readonly coarse: number;
}
/** Squared levels per pixel: the part of either band that is noise and rounding. */
const FLOOR = 0.2;

/** Log of the ratio of the fine to the coarse variance. */
function steepnessOf(list: readonly Bands[]): number {
  const mean = (band: keyof Bands) => list.reduce((sum, { [band]: v }) => sum + v, 0) / Math.max(1, list.length);
  return Math.log((mean('fine') + FLOOR) / (mean('coarse') + FLOOR));
}

const WIDE = SIDE + 1;
/** Summed-area table of the tile and its surroundings. */
const sums = new Float64Array(WIDE * WIDE);

function bandsOf({ column, row }: Tile, { width, data }: Plane): Bands {
  const start = (row * TILE - COARSE) * width + column * TILE - COARSE;
  for (let y = 0; y < SIDE; y++) {
    let line = 0;
    for (let x = 0, i = start + y * width, to = (y + 1) * WIDE + 1; x < SIDE; x++, i++, to++) {
      line += data[i] as number;
      sums[to] = (sums[to - WIDE] as number) + line;
    }
  }
  let fine = 0;
  let coarse = 0;
  for (let y = COARSE; y < COARSE + TILE; y++) {
    for (let x = COARSE, i = start + y * width + COARSE; x < COARSE + TILE; x++, i++) {
      const middle = meanAround(x, y, FINE);
      const a = (data[i] as number) - middle;
      const b = middle - meanAround(x, y, COARSE);
      fine += a * a;
      coarse += b * b;
    }
  }
  return { fine: fine / TILE ** 2, coarse: coarse / TILE ** 2 };
}

function meanAround(x: number, y: number, radius: number): number {
  const top = (y - radius) * WIDE + x - radius;
  const side = 2 * radius + 1;
  const bottom = top + side * WIDE;
  const sum =
    (sums[bottom + side] as number) - (sums[bottom] as number) - (sums[top + side] as number) + (sums[top] as number);
  return sum / (side * side);
}
