/** Brightness, colour, detail and correlation of both frames in one view, per tile. */
import type { Homography } from './homography.js';
import type { Plane, WorkingFrame } from './planes.js';
import { COLOUR_CELL } from './squares.js';
import { warpFrame } from './warp.js';

/** Working pixels per side. */
export const TILE = 8;

export interface TileOfFrame {
  /** means, levels 0..255 */
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly luma: number;
  /** standard deviation of the luma, levels */
  readonly contrast: number;
}

export interface Tile {
  readonly column: number;
  readonly row: number;
  readonly before: TileOfFrame;
  readonly after: TileOfFrame;
  /** zero-mean correlation of both lumas, -1..1; 0 if either is flat */
  readonly correlation: number;
}

export interface Tiles {
  /** the tiles that both frames show */
  readonly tiles: readonly Tile[];
  readonly columns: number;
  readonly rows: number;
  /** luma of `after` in the view of `before`; NaN outside the view of `after` */
  readonly afterLuma: Plane;
}

/** @param homography null: the camera counts as unmoved */
export function tileUp(before: WorkingFrame, after: WorkingFrame, homography: Homography | null): Tiles {
  const { width, height } = before.luma;
  const seen = warpFrame(after, homography, before.luma);
  const [columns, rows] = [Math.floor(width / TILE), Math.floor(height / TILE)];
  const tiles: Tile[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tile = compare(before, seen, column, row);
      if (tile !== null) tiles.push(tile);
    }
  }
  return { tiles, columns, rows, afterLuma: seen.luma };
}

const COUNT = TILE * TILE;

function compare(before: WorkingFrame, after: WorkingFrame, column: number, row: number): Tile | null {
  const { width } = before.luma;
  const start = row * TILE * width + column * TILE;
  const b = before.luma.data;
  const a = after.luma.data;
  let sumB = 0;
  let sumA = 0;
  let squaresB = 0;
  let squaresA = 0;
  let product = 0;
  for (let y = 0; y < TILE; y++) {
    for (let i = start + y * width, end = i + TILE; i < end; i++) {
      // No destructuring here: it allocates, and this runs per pixel.
      const p = b[i] as number;
      const q = a[i] as number;
      sumB += p;
      sumA += q;
      squaresB += p * p;
      squaresA += q * q;
      product += p * q;
    }
  }
  if (Number.isNaN(sumA)) return null;
  const ofBefore = tileOf(before, column, row, sumB / COUNT, squaresB / COUNT);
  const ofAfter = tileOf(after, column, row, sumA / COUNT, squaresA / COUNT);
  const scale = ofAfter.contrast * ofBefore.contrast;
  const covariance = product / COUNT - ofAfter.luma * ofBefore.luma;
  return { column, row, before: ofBefore, after: ofAfter, correlation: scale > NO_CONTRAST ? covariance / scale : 0 };
}

/** Squared levels: half a level in both frames. */
const NO_CONTRAST = 0.25;

function tileOf(frame: WorkingFrame, column: number, row: number, luma: number, meanSquare: number): TileOfFrame {
  return {
    red: colourOf(frame.red, column, row),
    green: colourOf(frame.green, column, row),
    blue: colourOf(frame.blue, column, row),
    luma,
    contrast: Math.sqrt(Math.max(0, meanSquare - luma * luma)),
  };
}

const CELLS = TILE / COLOUR_CELL;

function colourOf({ width, data }: Plane, column: number, row: number): number {
  let sum = 0;
  for (let y = 0; y < CELLS; y++) {
    for (let i = (row * CELLS + y) * width + column * CELLS, end = i + CELLS; i < end; i++) sum += data[i] as number;
  }
  return sum / CELLS ** 2;
}
