/** The raster of a camera's zones: the cells in which a change could count. */

import type { Point } from '../../../src/base/polygon.js';
import { countedCells } from '../../../src/camera/settings/counted-cells.js';

const GRID = { columns: 20, rows: 10 };
const LEFT_HALF: Point[] = [
  [0, 0],
  [0.5, 0],
  [0.5, 1],
  [0, 1],
];
const zone = (type: 'include' | 'ignore' | 'privacy', polygon = LEFT_HALF) => ({ type, polygon });
const rowOf = (cells: Uint8Array | null, row: number) =>
  cells === null ? null : [...cells.subarray(row * GRID.columns, (row + 1) * GRID.columns)].join('');

it('without zones that limit what counts, all cells count', () => {
  expect(countedCells([], GRID)).toBeNull();
  expect(countedCells([zone('privacy')], GRID)).toBeNull();
});

it('the cells of an ignored zone do not count, except at its border', () => {
  expect(rowOf(countedCells([zone('ignore')], GRID), 5)).toBe('00000000011111111111');
});

it('the cells of an included zone count, and those beside it', () => {
  expect(rowOf(countedCells([zone('include')], GRID), 5)).toBe('11111111111000000000');
});

it('an ignored part of an included zone does not count', () => {
  const middle: Point[] = [
    [0.1, 0.2],
    [0.4, 0.2],
    [0.4, 0.8],
    [0.1, 0.8],
  ];
  const cells = countedCells([zone('include'), zone('ignore', middle)], GRID);
  expect([rowOf(cells, 0), rowOf(cells, 5)]).toEqual(['11111111111000000000', '11100001111000000000']);
});
