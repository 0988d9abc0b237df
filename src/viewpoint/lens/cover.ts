/**
 * The part of a view whose detail is gone: fog on the glass, a web or dirt blur what lies behind them, whether or not
 * the change maps show them. A person or a vehicle replaces the detail that it hides by its own, or lies in a changed
 * region of the scene. Drops show the scene upside down: with drops on the lens, other detail counts, too.
 */
import { areaOf, type Box, boxOfCells, connectedCells, sharedArea } from '../../base/images.js';
import { DETAIL, type DetailMap } from './detail.js';

export interface Cover {
  /** share of the detail of the view that is gone, 0..1 */
  readonly share: number;
  /** around the cells that touch each other, fractions of the frame, the largest first */
  readonly boxes: Box[];
}

/** Cells with detail below which there is too little to judge. */
const LEAST_CELLS = 20;
const MOST_BOXES = 16;

/**
 * @param scene changed regions of the scene, which explain the detail that they hide
 * @param isOther whether tiles with other detail than that of the view count
 * @returns null: none is gone
 */
export function coverOf(
  { columns, rows, cells }: DetailMap,
  scene: readonly { readonly box: Box }[],
  isOther = false,
): Cover | null {
  const gone = new Uint8Array(cells.length);
  let [judged, count] = [0, 0];
  for (const [i, cell] of cells.entries()) {
    if (cell === DETAIL.none || scene.some(({ box }) => sharedArea(box, boxOfCells([i], columns, rows)) > 0)) continue;
    judged++;
    if (cell !== DETAIL.gone && !(isOther && cell === DETAIL.other)) continue;
    gone[i] = 1;
    count++;
  }
  if (count === 0 || judged < LEAST_CELLS) return null;
  const boxes = componentsOf(gone, columns)
    .map((component) => boxOfCells(component, columns, rows))
    .sort((a, b) => areaOf(b) - areaOf(a));
  return { share: count / judged, boxes: boxes.slice(0, MOST_BOXES) };
}

/** Open cells that touch, by sides or corners. @param open 1: open. The loop closes them */
const componentsOf = (open: Uint8Array, columns: number): number[][] =>
  [...open.keys()].flatMap((i) => (open[i] === 1 ? [connectedCells(open, i, columns, true)] : []));
