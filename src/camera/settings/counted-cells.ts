/**
 * Raster of a camera's zones: the cells of a grid in which a change could count. Cells at the border of a zone count,
 * because the regions of a comparison are coarser than its things. Pure.
 */
import type { Polygon } from '../../base/polygon.js';
import type { Zone } from './settings.js';

interface Grid {
  readonly columns: number;
  readonly rows: number;
}

/** Cells around an include zone that count as well, as a share of the columns. */
const MARGIN = 0.02;

/** @returns row-major, 1 per cell that counts; null if all do */
export function countedCells(
  zones: readonly { readonly type: Zone['type']; readonly polygon: Polygon }[],
  grid: Grid,
): Uint8Array | null {
  const ofType = (type: Zone['type']) => zones.filter((zone) => zone.type === type).map(({ polygon }) => polygon);
  const [ignored, included] = [ofType('ignore'), ofType('include')];
  if (ignored.length === 0 && included.length === 0) return null;
  const length = grid.columns * grid.rows;
  const counted =
    included.length === 0
      ? new Uint8Array(length).fill(1)
      : grown(inside(included, grid), grid, Math.ceil(MARGIN * grid.columns));
  if (ignored.length === 0) return counted;
  // All but the cells whose neighbours are ignored too.
  const others = inside(ignored, grid).map((cell) => 1 - cell);
  const near = grown(others, grid, 1);
  return counted.map((cell, i) => cell & (near[i] as number));
}

/** @returns 1 per cell whose centre lies in one of the polygons, by the even-odd rule */
function inside(polygons: readonly Polygon[], { columns, rows }: Grid): Uint8Array {
  const cells = new Uint8Array(columns * rows);
  for (const polygon of polygons) {
    for (let row = 0; row < rows; row++) {
      const crossings = crossingsAt((row + 0.5) / rows, polygon);
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        const from = Math.max(0, Math.ceil((crossings[i] as number) * columns - 0.5));
        const to = Math.min(columns, Math.ceil((crossings[i + 1] as number) * columns - 0.5));
        if (to > from) cells.fill(1, row * columns + from, row * columns + to);
      }
    }
  }
  return cells;
}

/** @returns where the sides of the polygon cross the horizontal line at y, ascending */
function crossingsAt(y: number, polygon: Polygon): number[] {
  return polygon
    .flatMap(([x0, y0], i) => {
      const [x1, y1] = polygon[(i + 1) % polygon.length] as Polygon[number];
      return y0 <= y === y1 <= y ? [] : [x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)];
    })
    .sort((a, b) => a - b);
}

/** Extends the set cells by a square of `by` cells in each direction. */
function grown(cells: Uint8Array, grid: Grid, by: number): Uint8Array {
  const { columns, rows } = grid;
  const wide = new Uint8Array(cells.length);
  const out = new Uint8Array(cells.length);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      if (cells[i] === 0) continue;
      wide.fill(1, i - Math.min(by, column), i + Math.min(by, columns - 1 - column) + 1);
    }
  }
  for (let row = 0; row < rows; row++) {
    for (let near = Math.max(0, row - by); near <= Math.min(rows - 1, row + by); near++) {
      for (let column = 0; column < columns; column++) {
        if (wide[near * columns + column] === 1) out[row * columns + column] = 1;
      }
    }
  }
  return out;
}
