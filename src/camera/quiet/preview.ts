/**
 * Cells of previews. The rule compares means of square cells of a few pixels, so
 * that the pixels of a frame are read once.
 */
import type { Preview, Size } from '../../base/images.js';
import { meansOfCells } from '../../base/preview-loops.js';

/** The smallest change that the rule looks for has 12 px at a width of 640 px: three cells of a 160th of the width. */
const LEAST_COLUMNS = 160;

export interface Grid {
  readonly columns: number;
  readonly rows: number;
}

/** Grid of the cells of a preview: at least 160 columns, unless it is narrower. */
export function gridOf({ width, height }: Size): Grid {
  const side = Math.max(1, Math.floor(width / LEAST_COLUMNS));
  return { columns: Math.max(1, Math.floor(width / side)), rows: Math.max(1, Math.floor(height / side)) };
}

/** Fixed point: one level is 16 units. */
export const LEVEL = 16;

/** First pixel of each cell along one side, and the end of the last; the cells differ by at most a pixel in length. */
function bordersOf(length: number, count: number): Uint16Array {
  return Uint16Array.from({ length: count + 1 }, (_, i) => Math.round((i * length) / count));
}

/** @returns the mean of each cell in units of 1/16 level, row-major */
export function cellMeans(preview: Preview): Int16Array {
  const { columns, rows } = gridOf(preview);
  return meansOfCells(preview, bordersOf(preview.width, columns), bordersOf(preview.height, rows), LEVEL);
}

/** Gradients of a preview per cell, in units of 1/16 level per pixel. */
export interface CellGradients {
  /** means over the cell */
  readonly x: Int16Array;
  readonly y: Int16Array;
  /** mean of the absolute values of both directions */
  readonly steepness: Int16Array;
}

export function cellGradients({ luma, width, height }: Preview): CellGradients {
  const { columns, rows } = gridOf({ width, height });
  const [xs, ys] = [bordersOf(width, columns), bordersOf(height, rows)];
  const [x, y, steepness] = [0, 0, 0].map(() => new Int16Array(columns * rows)) as [Int16Array, Int16Array, Int16Array];
  for (let row = 0; row < rows; row++) {
    const [top, bottom] = [ys[row] as number, ys[row + 1] as number];
    for (let column = 0; column < columns; column++) {
      const [left, right] = [xs[column] as number, xs[column + 1] as number];
      let [sumX, sumY, sum] = [0, 0, 0];
      for (let v = top; v < bottom; v++) {
        const above = Math.max(0, v - 1) * width;
        const below = Math.min(height - 1, v + 1) * width;
        for (let u = left; u < right; u++) {
          const before = luma[v * width + Math.max(0, u - 1)] as number;
          const dx = (luma[v * width + Math.min(width - 1, u + 1)] as number) - before;
          const dy = (luma[below + u] as number) - (luma[above + u] as number);
          sumX += dx;
          sumY += dy;
          sum += Math.abs(dx) + Math.abs(dy);
        }
      }
      // A central difference spans two pixels.
      const scale = LEVEL / (2 * (bottom - top) * (right - left));
      const at = row * columns + column;
      x[at] = Math.round(sumX * scale);
      y[at] = Math.round(sumY * scale);
      steepness[at] = Math.round(sum * scale);
    }
  }
  return { x, y, steepness };
}
