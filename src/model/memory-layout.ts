/** Rows of the decoder memory: rows without a place, then the cells of one grid per side. */
import type { Side } from '../base/images.js';

/** rows, columns */
export type Grid = readonly [number, number];

/** The part of `attention` of a manifest that concerns the memory. */
export interface Memory {
  readonly grid: Grid;
  /**
   * extra: rows without a place, e.g. class tokens; sides: 1 = a cell is of both frames, 2 = a grid per frame; absent =
   * no extra rows and one grid
   */
  readonly layout?: { readonly sides: 1 | 2; readonly extra: number } | undefined;
}

/** @returns N, the number of rows */
export const memoryRows = (memory: Memory): number => firstRow(memory, 'after') + memory.grid[0] * memory.grid[1];

/** @returns the row of the first cell of a frame */
export function firstRow({ grid, layout }: Memory, side: Side): number {
  const cells = layout?.sides === 2 && side === 'after' ? grid[0] * grid[1] : 0;
  return (layout?.extra ?? 0) + cells;
}
