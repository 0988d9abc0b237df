/** The map of a view's detail in cells, and of the detail that `after` lacks. The loops run per pixel. */
import type { RgbImage, Side } from '../../base/images.js';
import type { Plane } from '../planes.js';
import { gradientOf, lumaOf } from './planes.js';

/** Cells of a frame, row by row: 1 where `before` has detail that `after` lacks; 2 where both have it; else 0. */
export interface DetailMap {
  readonly columns: number;
  readonly rows: number;
  readonly cells: Uint8Array;
}

/** Pixels of the longer side of the frame that are read, and read pixels of a cell, per side. */
const WORKING = 480;
const CELL = 8;
/** Half a cell, as a share of the longer side of the frame. */
export const HALF_CELL = CELL / WORKING / 2;
/** Levels per read pixel: mean gradient from which a cell has detail; and what is added so that noise has no ratio. */
const DETAIL = 3;
const NOISE = 1;
/** Share of its detail below which a cell is covered. A cell that is darker has less detail by as much. */
const GONE = 0.5;
const DARK = 16;

/** @param frames of one size */
export function mapDetail(frames: Readonly<Record<Side, RgbImage>>): DetailMap {
  const { width, height } = frames.after;
  const step = Math.max(1, Math.round(Math.max(width, height) / WORKING));
  const columns = Math.floor(width / step / CELL);
  const rows = Math.floor(height / step / CELL);
  const part = { left: 0, top: 0, width: columns * CELL, height: rows * CELL, step };
  const measured = (side: Side) => {
    const luma = lumaOf(frames[side], part);
    return { light: meansOfCells(luma), detail: meansOfCells(gradientOf(luma, 1)) };
  };
  const [before, after] = [measured('before'), measured('after')];
  const cells = Uint8Array.from(before.detail, (detail, i) => {
    if (detail <= DETAIL) return 0;
    const light = ((after.light[i] as number) + DARK) / ((before.light[i] as number) + DARK);
    return ((after.detail[i] as number) + NOISE) / (detail + NOISE) < GONE * Math.min(1, light) ? 1 : 2;
  });
  return { columns, rows, cells };
}

/** Mean per cell of whole cells. */
function meansOfCells({ width, height, data }: Plane): Float32Array {
  const columns = width / CELL;
  const sums = new Float32Array((height / CELL) * columns);
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / CELL) * columns;
    for (let cell = row; cell < row + columns; cell++) {
      let sum = sums[cell] as number;
      for (const end = at + CELL; at < end; at++) sum += data[at] as number;
      sums[cell] = sum;
    }
  }
  return sums.map((sum) => sum / CELL ** 2);
}
