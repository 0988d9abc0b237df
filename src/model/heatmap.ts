/** The attention of each word, laid onto the grid of the change maps. */
import type { Box, Heatmap } from '../images.js';

/** rows, columns */
export type Grid = readonly [number, number];

export interface WordAttention {
  /** [N + R * cells of a glance], sums to 1: the memory grid row by row, then each glance row by row */
  readonly weights: Float32Array;
  readonly memoryGrid: Grid;
  readonly glanceGrid: Grid | null;
  /** what each used glance cropped, fractions of the frame; slots after the last one are ignored */
  readonly crops: readonly Box[];
}

/**
 * Where on the frame a word looked: mass of every memory cell and glance cell spread evenly over the area it covers, per
 * map cell. Scaled so that the maximum is 1; all zero where the word looked at nothing.
 * @param width, height grid of the result
 */
export function wordHeatmap(attention: WordAttention, width: number, height: number): Heatmap {
  const { weights, memoryGrid, glanceGrid, crops } = attention;
  const map: Heatmap = { width, height, data: new Float32Array(width * height) };
  spread(weights, 0, memoryGrid, WHOLE_FRAME, map);
  let from = memoryGrid[0] * memoryGrid[1];
  if (glanceGrid !== null) {
    for (const crop of crops) {
      spread(weights, from, glanceGrid, crop, map);
      from += glanceGrid[0] * glanceGrid[1];
    }
  }
  scaleToOne(map.data);
  return map;
}

const WHOLE_FRAME: Box = { x: 0, y: 0, width: 1, height: 1 };

/** Adds a grid's weights, laid over `box`, to the map: each target cell gets its share by covered area. */
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
  /** of the cell's length, how much lies in the target cell; sums to 1 a cell that lies inside the map */
  readonly share: number;
}

/** Along one axis: `cells` cells of `length` target cells each, the first one starting at `start`. */
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
