/**
 * The luma and the colours of squares of pixels: the loop over all pixels of a frame. It is WebAssembly (squares.wat),
 * which takes a quarter of the time of JavaScript.
 */
import type { RgbImage } from '../base/images.js';
import { copyBytes, instanceOf } from '../base/webassembly-instance.js';
import { SQUARES_CODE } from './squares-code.js';

/** A part of a frame. `left` and `top` in pixels of the frame; sizes in squares of `step` x `step` pixels. */
export interface Part {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly step: number;
}

/** The luma of a square is share * (red R + green G + blue B) of the sums of its pixels. */
interface LumaWeights {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly share: number;
}

/** Squares per side of a cell. */
export const COLOUR_CELL = 4;

/** Export of squares.wat. Positions are byte addresses in its memory. */
interface Loops {
  readonly memory: WebAssembly.Memory;
  squares(
    rgb: number,
    stride: number,
    side: number,
    columns: number,
    rows: number,
    lines: number,
    cells: number,
    luma: number,
    ...weights: [red: number, green: number, blue: number, share: number]
  ): void;
}

const loops = instanceOf<Loops>(SQUARES_CODE);

/** Alignment of addresses, and bytes that the loop may touch behind the lines. */
const SLACK = 32;
const aligned = (bytes: number): number => SLACK * (1 + Math.ceil(bytes / SLACK));

/**
 * @param luma receives width * height values
 * @param useColours receives the sums of each row of cells: four per cell, R, G, B and one without meaning. The last
 *   cell and the last row may have fewer squares
 */
export function lumaOfSquares(
  { width: all, data }: RgbImage,
  { left, top, width, height, step }: Part,
  { red, green, blue, share }: LumaWeights,
  luma: Float32Array,
  useColours?: (sums: Int32Array, row: number) => void,
): void {
  const stride = all * 3;
  // Layout of the memory: the pixels of a row of cells, a line, the cells, and the lumas of their squares.
  const lines = aligned(COLOUR_CELL * step * stride);
  const cells = lines + aligned(width * step * 3 * 2);
  const lumas = cells + aligned(16 * Math.ceil(width / COLOUR_CELL));
  const { memory, squares } = loops(lumas + 4 * COLOUR_CELL * width);
  const sums = new Int32Array(memory.buffer, cells, 4 * Math.ceil(width / COLOUR_CELL));
  const results = new Float32Array(memory.buffer, lumas, COLOUR_CELL * width);
  for (let row = 0; row < height; row += COLOUR_CELL) {
    const rows = Math.min(COLOUR_CELL, height - row);
    const first = (top + row * step) * stride;
    copyBytes(data.subarray(first, first + rows * step * stride), memory, 0);
    sums.fill(0);
    squares(left * 3, stride, step, width, rows, lines, cells, lumas, red, green, blue, share);
    luma.set(results.subarray(0, rows * width), row * width);
    useColours?.(sums, row / COLOUR_CELL);
  }
}
