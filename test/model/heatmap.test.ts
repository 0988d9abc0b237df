import type { Heatmap } from '../../src/base/images.js';
import { wordHeatmap } from '../../src/model/heatmap.js';

const ROWS = 2;
const COLUMNS = 3;
const CROP_GRID = [2, 2] as const;
const crop = { x: 0.5, y: 0.5, width: 0.25, height: 0.5 };

function attentionOf(weights: Record<number, number>, crops = [crop]) {
  const all = new Float32Array(ROWS * COLUMNS + 2 * 4);
  for (const [at, weight] of Object.entries(weights)) all[Number(at)] = weight;
  return { weights: all, memory: { grid: [ROWS, COLUMNS] as const }, cropGrid: CROP_GRID, crops };
}
const rowsOf = ({ width, height, data }: Heatmap): number[][] =>
  Array.from({ length: height }, (_, y) => [...data.subarray(y * width, (y + 1) * width)]);

describe('wordHeatmap', () => {
  it('is all zero if every weight is zero', () => {
    expect(new Set(wordHeatmap(attentionOf({}), 'before', 12, 8).data)).toEqual(new Set([0]));
  });

  it('covers exactly the frame area of a memory cell, with 1 at its maximum', () => {
    const map = wordHeatmap(attentionOf({ 1: 0.2 }), 'before', 6, 4); // row 0, column 1 of 2 x 3
    expect(rowsOf(map)).toEqual([
      [0, 0, 1, 1, 0, 0],
      [0, 0, 1, 1, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
    ]);
  });

  it('spreads a crop cell over its part of the crop', () => {
    const map = wordHeatmap(attentionOf({ [6 + 3]: 0.9 }), 'before', 8, 4); // lower right cell of the first crop
    const hot = [...map.data.entries()].filter(([, value]) => value > 0).map(([at]) => at);
    expect(hot).toEqual([3 * 8 + 5]); // x from 5/8 to 6/8, y from 3/4 to 1
  });

  it('divides a cell that overlaps two map cells by area', () => {
    const wide = { x: 0.25, y: 0, width: 0.5, height: 1 };
    const map = wordHeatmap(attentionOf({ 6: 1, 7: 1, 8: 1, 9: 1 }, [wide]), 'before', 2, 1);
    expect([...map.data]).toEqual([1, 1]);
  });

  it('is higher in a small crop than in a large memory cell of the same weight', () => {
    const map = wordHeatmap(attentionOf({ 0: 0.5, 6: 0.5 }), 'before', 24, 16);
    const at = (x: number, y: number) => map.data[y * 24 + x] as number;
    expect(at(12, 8)).toBe(1);
    expect(at(0, 0)).toBeGreaterThan(0);
    expect(at(0, 0)).toBeLessThan(0.5);
  });

  it('ignores the weights of unused crop slots', () => {
    expect(new Set(wordHeatmap(attentionOf({ [6 + 4]: 1 }), 'before', 6, 4).data)).toEqual(new Set([0]));
  });

  it('works without region crops', () => {
    const weights = Float32Array.of(0, 0, 0, 0, 0, 1);
    const map = wordHeatmap({ weights, memory: { grid: [2, 3] }, cropGrid: null, crops: [] }, 'before', 3, 2);
    expect(rowsOf(map)).toEqual([
      [0, 0, 0],
      [0, 0, 1],
    ]);
  });

  it('reads each frame from its own cells, and rows without a place from neither', () => {
    const memory = { grid: [1, 2] as const, layout: { sides: 2 as const, extra: 1 } };
    const crop = [{ x: 0, y: 0, width: 1, height: 1 }];
    const mapOf = (row: number, side: 'before' | 'after') => {
      const weights = new Float32Array(1 + 2 * 2 + 2);
      weights[row] = 0.4;
      return [...wordHeatmap({ weights, memory, cropGrid: [1, 2], crops: crop }, side, 2, 1).data];
    };
    expect([0, 1, 4, 5].map((row) => mapOf(row, 'before'))).toEqual([
      [0, 0],
      [1, 0],
      [0, 0],
      [1, 0],
    ]);
    expect([0, 1, 4, 5].map((row) => mapOf(row, 'after'))).toEqual([
      [0, 0],
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  it('keeps the mass of every cell on any grid', () => {
    // 2 x 3 cells of weight 1..6 on grids that share no edge with them: only the scale may differ
    const attention = { ...attentionOf({ 0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6 }), crops: [] };
    const sums = [
      [7, 5],
      [31, 17],
    ].map(([width, height]) => {
      const map = wordHeatmap(attention, 'before', width as number, height as number);
      const left = rowsOf(map).flatMap((row) => row.slice(0, Math.floor(row.length / 2)));
      return left.reduce((a, b) => a + b) / map.data.reduce((a, b) => a + b);
    });
    // exact share of the left half without the middle column: floor(w/2) / w of the width, linear inside cells
    const share = (width: number) => {
      const until = Math.floor(width / 2) / width;
      const columns = [5, 7, 9]; // mass per column
      return columns.reduce((sum, mass, i) => sum + mass * Math.min(1, Math.max(0, until * 3 - i)), 0) / 21;
    };
    expect(sums[0]).toBeCloseTo(share(7), 5);
    expect(sums[1]).toBeCloseTo(share(31), 5);
  });
});
