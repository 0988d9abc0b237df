/** The map of a view's detail in cells, and of the detail that `after` lacks. The loops run per pixel. */
import type { Side } from '../../base/images.js';
import { type Plane, WORKING_SIDE } from '../planes.js';

/** Cells of a frame, row by row: 1 where `before` has detail that `after` lacks; 2 where both have it; else 0. */
export interface DetailMap {
  readonly columns: number;
  readonly rows: number;
  readonly cells: Uint8Array;
}

/** Working pixels of a cell, per side. */
const CELL = 8;
/** Half a cell, as a share of the longer side of the frame. */
export const HALF_CELL = CELL / WORKING_SIDE / 2;
/** Levels per working pixel: mean gradient from which a cell has detail; and what is added so that noise has no ratio. */
const DETAIL = 3;
const NOISE = 0.5;
/** Share of its detail below which a cell is covered. A cell that is darker has less detail by as much. */
const GONE = 0.5;
const DARK = 16;

/** @param lumas of both frames at working size, of one size */
export function mapDetail(lumas: Readonly<Record<Side, Plane>>): DetailMap {
  const { width, height } = lumas.after;
  const [columns, rows] = [Math.floor(width / CELL), Math.floor(height / CELL)];
  const [before, after] = [meansOf(lumas.before, columns, rows), meansOf(lumas.after, columns, rows)];
  const cells = new Uint8Array(columns * rows);
  for (let i = 0; i < cells.length; i++) {
    const detail = before.detail[i] as number;
    if (detail <= DETAIL) continue;
    const light = Math.min(1, ((after.light[i] as number) + DARK) / ((before.light[i] as number) + DARK));
    cells[i] = ((after.detail[i] as number) + NOISE) / (detail + NOISE) < GONE * light ? 1 : 2;
  }
  return { columns, rows, cells };
}

/** Mean luma and mean gradient per cell; the outermost pixels of the plane have no gradient. */
function meansOf({ width, height, data }: Plane, columns: number, rows: number) {
  const light = new Float32Array(columns * rows);
  const detail = new Float32Array(columns * rows);
  for (let cell = 0; cell < light.length; cell++) {
    const [left, top] = [(cell % columns) * CELL, Math.floor(cell / columns) * CELL];
    let [sum, gradients] = [0, 0];
    for (let y = top; y < top + CELL; y++) {
      for (let x = left, i = y * width + left; x < left + CELL; x++, i++) {
        sum += data[i] as number;
        if (x === 0 || y === 0 || x === width - 1 || y === height - 1) continue;
        const u = (data[i + 1] as number) - (data[i - 1] as number);
        const v = (data[i + width] as number) - (data[i - width] as number);
        gradients += Math.sqrt(u * u + v * v);
      }
    }
    light[cell] = sum / CELL ** 2;
    detail[cell] = gradients / 2 / CELL ** 2;
  }
  return { light, detail };
}
