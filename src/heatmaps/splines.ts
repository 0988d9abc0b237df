/**
 * Enlargement of heatmaps. The grid of a map has some tens of cells per side. It is enlarged with Catmull-Rom splines,
 * which pass through the values of the cells (a single hot cell keeps its value) and are clamped to 0..1. Cells are
 * squares: the value of cell i belongs to the frame position (i + 0.5) / cells.
 */
import type { Heatmap } from '../base/images.js';

/** @returns the map with `width` x `height` cells */
export function enlarge(map: Heatmap, width: number, height: number): Heatmap {
  const data = new Float32Array(width * height);
  forEachRow(map, width, height, (y, values) => data.set(values, y * width));
  return { width, height, data };
}

/** Visits every row of a `width` x `height` image with the values of the map along it, 0..1; `values` is reused. */
export function forEachRow(
  map: Heatmap,
  width: number,
  height: number,
  visit: (y: number, values: Float32Array) => void,
): void {
  const columns = splineTaps(map.width, width);
  const rows = splineTaps(map.height, height);
  const blended = new Float32Array(map.width);
  const values = new Float32Array(width);
  for (let y = 0; y < height; y++) {
    blended.fill(0);
    for (let tap = y * TAPS; tap < (y + 1) * TAPS; tap++) {
      const weight = rows.weights[tap] as number;
      const start = (rows.cells[tap] as number) * map.width;
      for (let x = 0; x < map.width; x++) {
        blended[x] = (blended[x] as number) + weight * (map.data[start + x] as number);
      }
    }
    for (let x = 0, tap = 0; x < width; x++) {
      let value = 0;
      for (const end = tap + TAPS; tap < end; tap++) {
        value += (columns.weights[tap] as number) * (blended[columns.cells[tap] as number] as number);
      }
      values[x] = Math.min(Math.max(value, 0), 1);
    }
    visit(y, values);
  }
}

const TAPS = 4;

/** @returns per pixel the four nearest cells (repeated at the border) and their Catmull-Rom weights, [pixels, TAPS] */
function splineTaps(cells: number, pixels: number): { cells: Uint32Array; weights: Float32Array } {
  const taps = { cells: new Uint32Array(pixels * TAPS), weights: new Float32Array(pixels * TAPS) };
  for (let pixel = 0; pixel < pixels; pixel++) {
    const position = ((pixel + 0.5) / pixels) * cells - 0.5;
    const first = Math.floor(position);
    const t = position - first;
    const weights = [
      ((-0.5 * t + 1) * t - 0.5) * t,
      (1.5 * t - 2.5) * t * t + 1,
      ((-1.5 * t + 2) * t + 0.5) * t,
      (0.5 * t - 0.5) * t * t,
    ];
    for (let tap = 0; tap < TAPS; tap++) {
      taps.cells[pixel * TAPS + tap] = Math.min(Math.max(first - 1 + tap, 0), cells - 1);
      taps.weights[pixel * TAPS + tap] = weights[tap] as number;
    }
  }
  return taps;
}
