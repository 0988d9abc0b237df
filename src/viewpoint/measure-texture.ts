/** Measurements of what is finer than a tile: noise, sharpness, fine differences, edges. */
import { measureEdges } from './edges.js';
import type { Grain } from './grain.js';
import { type LightingFit, relit, showsTheSame } from './photometric.js';
import type { Plane } from './planes.js';
import { TILE, type Tiles } from './tiles.js';

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

/** Log steepness. In 19 of 20 made frames without tampering the strongest edges are steeper. */
const SOFT = -1.4;

export function measureEdgeChange(tiled: Tiles, luma: Plane) {
  const { change, before, after } = measureEdges(tiled, luma);
  return {
    edge_change: change,
    edge_before: before,
    edge_after: after,
    edge_soft: Math.max(0, SOFT - after),
  };
}
