/** The map of a view's detail in cells, and of what `after` shows in its place. The loops run per pixel. */
import type { Side } from '../../base/images.js';
import { type Plane, WORKING_SIDE } from '../planes.js';
import { TILE, type Tile, type Tiles } from '../tiles.js';

/** A tile of `before` has no detail, or detail that `after` lacks, keeps, or has another in place of. */
export const DETAIL = { none: 0, gone: 1, kept: 2, other: 3 } as const;

/** Values of DETAIL by tile, row by row. */
export interface DetailMap {
  readonly columns: number;
  readonly rows: number;
  readonly cells: Uint8Array;
}

/** Half a tile, as a share of the longer side of the frame. */
export const HALF_TILE = TILE / WORKING_SIDE / 2;
/** Levels per working pixel: mean gradient from which a tile has detail, and what is added against the noise. */
const LEAST = 3;
const NOISE = 0.5;
/** Share of its detail below which a tile is covered. A tile that is darker has less detail by as much. */
const GONE = 0.5;
const DARK = 16;
/** Correlation below which a tile shows another thing: it gives the painted share of views behind drops. */
const OTHER = 0.5;

/** @param lumas of both frames, of one size, the camera moved by less than HALF_TILE. @param tiled the same frames */
export function mapDetail(lumas: Readonly<Record<Side, Plane>>, { tiles, columns, rows }: Tiles): DetailMap {
  const cells = new Uint8Array(columns * rows);
  for (const tile of tiles) cells[tile.row * columns + tile.column] = detailOf(tile, lumas);
  return { columns, rows, cells };
}

function detailOf(tile: Tile, lumas: Readonly<Record<Side, Plane>>): number {
  const detail = meanGradient(lumas.before, tile);
  if (detail <= LEAST) return DETAIL.none;
  const light = Math.min(1, (tile.after.luma + DARK) / (tile.before.luma + DARK));
  if ((meanGradient(lumas.after, tile) + NOISE) / (detail + NOISE) < GONE * light) return DETAIL.gone;
  return tile.correlation < OTHER ? DETAIL.other : DETAIL.kept;
}

/** The outermost pixels of the plane have no gradient. */
function meanGradient({ width, height, data }: Plane, { column, row }: Tile): number {
  const [left, top] = [column * TILE, row * TILE];
  let sum = 0;
  for (let y = Math.max(1, top), below = Math.min(height - 1, top + TILE); y < below; y++) {
    const start = y * width;
    for (let i = start + Math.max(1, left), end = start + Math.min(width - 1, left + TILE); i < end; i++) {
      const u = (data[i + 1] as number) - (data[i - 1] as number);
      const v = (data[i + width] as number) - (data[i - width] as number);
      sum += Math.sqrt(u * u + v * v);
    }
  }
  return sum / 2 / TILE ** 2;
}
