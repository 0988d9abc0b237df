/** Heatmap of a word: its attention over full frame and region crops, resampled to the grid of the change maps. */
import { type Box, FULL_FRAME, type Heatmap, type Side } from '../base/images.js';
import { firstRow, type Grid, type Memory, memoryRows } from './memory-layout.js';

interface WordAttention {
  /** [N + R * cells of a crop], at most 1 in all: the rows of the memory, then each region crop row by row */
  readonly weights: Float32Array;
  readonly memory: Memory;
  readonly cropGrid: Grid | null;
  /** box of each region crop in use, fractions of the frame; weights of later slots are ignored */
  readonly crops: readonly Box[];
}

/**
 * Spreads the weight of every memory cell and crop cell evenly over the area that the cell covers. The result is scaled
 * to a maximum of 1; it is all zero if every weight is zero.
 * @param side the frame that the map is of; the memory may have cells of its own for each
 * @param width of the result in cells
 * @param height of the result in cells
 */
export function wordHeatmap(attention: WordAttention, side: Side, width: number, height: number): Heatmap {
  const { weights, memory, cropGrid, crops } = attention;
  const map: Heatmap = { width, height, data: new Float32Array(width * height) };
  spread(weights, firstRow(memory, side), memory.grid, FULL_FRAME, map);
  let from = memoryRows(memory);
  if (cropGrid !== null) {
    for (const crop of crops) {
      spread(weights, from, cropGrid, crop, map);
      from += cropGrid[0] * cropGrid[1];
    }
  }
  scaleToOne(map.data);
  return map;
}

/** Adds the weights of a grid that covers `box` to the map: each target cell receives its share by covered area. */
function spread(weights: Float32Array, from: number, [rows, columns]: Grid, box: Box, map: Heatmap): void {
  const across = overlaps(columns, box.x * map.width, (box.width * map.width) / columns, map.width);
  const down = overlaps(rows, box.y * map.height, (box.height * map.height) / rows, map.height);
  for (const vertical of down) {
    for (const horizontal of across) {
      const weight = weights[from + vertical.cell * columns + horizontal.cell] as number;
      const at = vertical.target * map.width + horizontal.target;
      map.data[at] = (map.data[at] as number) + weight * vertical.share * horizontal.share;
    }
  }
}

interface Overlap {
  readonly cell: number;
  readonly target: number;
  /** share of the cell's length that lies in the target cell; the shares of a cell inside the map sum to 1 */
  readonly share: number;
}

/** Overlaps along one axis of `cells` cells, each as long as `length` target cells, the first of them at `start`. */
function overlaps(cells: number, start: number, length: number, targets: number): Overlap[] {
  const found: Overlap[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const low = start + cell * length;
    const high = low + length;
    for (let target = Math.max(0, Math.floor(low)); target < Math.min(targets, high); target++) {
      const share = (Math.min(high, target + 1) - Math.max(low, target)) / length;
      if (share > 0) found.push({ cell, target, share });
    }
  }
  return found;
}

function scaleToOne(values: Float32Array): void {
  const highest = values.reduce((a, b) => Math.max(a, b), 0);
  if (highest === 0) return;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / highest;
}
