/**
 * The part of a view whose detail is gone: fog on the glass, a web, dirt or drops blur what lies behind them, whether
 * or not the change maps show them. A person or a vehicle replaces the detail that it hides by
 * its own, or lies in a changed region of the scene.
 */
import { areaOf, type Box, type RgbImage, type Side, sharedArea } from '../../base/images.js';
import type { Plane } from '../planes.js';
import { gradientOf, lumaOf } from './planes.js';

/** Cells of a frame, row by row: 1 where `before` has detail that `after` lacks; 2 where both have it; else 0. */
export interface DetailMap {
  readonly columns: number;
  readonly rows: number;
  readonly cells: Uint8Array;
}

export interface Cover {
  /** share of the detail of the view that is gone, 0..1 */
  readonly share: number;
  /** around the cells that touch each other, fractions of the frame, the largest first */
  readonly boxes: Box[];
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
/** Cells with detail below which there is too little to judge. */
const LEAST_CELLS = 20;
const MOST_BOXES = 16;

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

/** @param scene changed regions of the scene, which explain the detail that they hide @returns null: none is gone */
export function coverOf({ columns, rows, cells }: DetailMap, scene: readonly { readonly box: Box }[]): Cover | null {
  const left = cells.map((cell, i) => {
    const box = boxOfCells([i], columns, rows);
    return scene.some((region) => sharedArea(region.box, box) > 0) ? 0 : cell;
  });
  const gone = left.filter((cell) => cell === 1).length;
  const judged = left.filter((cell) => cell > 0).length;
  if (gone === 0 || judged < LEAST_CELLS) return null;
  const boxes = componentsOf(left, columns)
    .map((component) => boxOfCells(component, columns, rows))
    .sort((a, b) => areaOf(b) - areaOf(a));
  return { share: gone / judged, boxes: boxes.slice(0, MOST_BOXES) };
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

function boxOfCells(cells: readonly number[], columns: number, rows: number): Box {
  const xs = cells.map((cell) => cell % columns);
  const ys = cells.map((cell) => Math.floor(cell / columns));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return {
    x: x / columns,
    y: y / rows,
    width: (Math.max(...xs) + 1 - x) / columns,
    height: (Math.max(...ys) + 1 - y) / rows,
  };
}

/** Cells of value 1 that touch, by sides or corners. */
function componentsOf(cells: Uint8Array, columns: number): number[][] {
  const free = new Set([...cells.keys()].filter((i) => cells[i] === 1));
  return [...free].flatMap((start) => {
    if (!free.delete(start)) return [];
    const component = [start];
    for (const cell of component) {
      for (const row of [-columns, 0, columns]) {
        for (const step of [-1, 0, 1]) {
          const next = cell + row + step;
          const wraps = Math.abs((next % columns) - (cell % columns)) > 1;
          if (!wraps && free.delete(next)) component.push(next);
        }
      }
    }
    return [component];
  });
}
