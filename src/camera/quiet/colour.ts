/** Differences of colour between two previews: a change may have the brightness of the thing that it replaces. */
import type { Preview } from '../../base/images.js';
import { TILE, tilesOf } from './noise.js';
import { gridOf, LEVEL } from './preview.js';

interface ColourDifferences {
  /** largest difference per tile, units of 1/16 level */
  readonly chroma: Uint8Array;
  /** mean difference of the whole frame in either plane, levels */
  readonly tint: number;
}

/** @param counted as in comparePreviews */
export function colourPerTile(examined: Preview, current: Preview, counted: Uint8Array | null): ColourDifferences {
  const grid = gridOf(examined);
  const tiles = tilesOf(grid);
  const chroma = new Uint8Array(tiles.columns * tiles.rows);
  if (examined.chroma === undefined || current.chroma === undefined) return { chroma, tint: 0 };
  const [width, height] = [Math.floor(examined.width / 2), Math.floor(examined.height / 2)];
  // Cell of the luma grid, and tile, per column and row of pairs of pixels.
  const cellsOf = (length: number, pixels: number, cells: number) =>
    Uint16Array.from({ length: length >> 1 }, (_, i) =>
      Math.min(cells - 1, Math.floor(((4 * i + 2) * cells) / pixels)),
    );
  const columns = cellsOf(width, examined.width, grid.columns);
  const rows = cellsOf(height, examined.height, grid.rows);
  let tint = 0;
  for (const plane of ['blue', 'red'] as const) {
    const [from, to] = [examined.chroma[plane], current.chroma[plane]];
    const mean = meanDifference(from, to);
    tint = Math.max(tint, Math.abs(mean));
    for (let row = 0; row < rows.length; row++) {
      const cell = rows[row] as number;
      const start = Math.floor(cell / TILE) * tiles.columns;
      for (let column = 0; column < columns.length; column++) {
        const beside = columns[column] as number;
        if (counted !== null && counted[cell * grid.columns + beside] === 0) continue;
        const [a, b] = [2 * row * width + 2 * column, (2 * row + 1) * width + 2 * column];
        const sum =
          (to[a] as number) +
          (to[a + 1] as number) +
          (to[b] as number) +
          (to[b + 1] as number) -
          ((from[a] as number) + (from[a + 1] as number) + (from[b] as number) + (from[b + 1] as number));
        const difference = Math.min(255, Math.abs(sum / 4 - mean) * LEVEL);
        const tile = start + Math.floor(beside / TILE);
        if (difference > (chroma[tile] as number)) chroma[tile] = difference;
      }
    }
  }
  return { chroma, tint };
}

/** A tint of the light; of every fourth pixel. */
function meanDifference(from: Uint8Array, to: Uint8Array): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < from.length; i += 4, count++) sum += (to[i] as number) - (from[i] as number);
  return sum / Math.max(1, count);
}
