/**
 * The part of a view whose detail is gone: fog on the glass, a web, dirt or drops blur what lies behind them, whether
 * or not the change maps show them. A person or a vehicle replaces the detail that it hides by
 * its own, or lies in a changed region of the scene.
 */
import { areaOf, type Box, boxOfCells, connectedCells, sharedArea } from '../../base/images.js';
import type { DetailMap } from './detail.js';

export interface Cover {
  /** share of the detail of the view that is gone, 0..1 */
  readonly share: number;
  /** around the cells that touch each other, fractions of the frame, the largest first */
  readonly boxes: Box[];
}

/** Cells with detail below which there is too little to judge. */
const LEAST_CELLS = 20;
const MOST_BOXES = 16;

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

/** Cells of value 1 that touch, by sides or corners. */
function componentsOf(cells: Uint8Array, columns: number): number[][] {
  const open = cells.map((cell) => Number(cell === 1));
  return [...open.keys()].flatMap((i) => (open[i] === 1 ? [connectedCells(open, i, columns, true)] : []));
}
