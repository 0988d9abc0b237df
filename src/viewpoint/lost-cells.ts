/** Cells of a frame for the search of lost parts: how they vary, their colours, connected ones, displaced blocks. */
import type { RgbImage } from '../images.js';

/** About this many cells lie side by side. */
const ACROSS = 80;
/** Columns of a cell that are read. */
const EVERY = 4;

/** Statistics of squares of pixels, row-major. */
export interface Cells {
  readonly columns: number;
  readonly rows: number;
  /** pixels per side of a cell */
  readonly side: number;
  /** of the frame, pixels */
  readonly width: number;
  readonly height: number;
  /** mean absolute difference of neighbouring rows, and of columns EVERY pixels apart, of green, levels */
  readonly vertical: Float32Array;
  readonly horizontal: Float32Array;
  /** mean levels of red, green and blue, interleaved */
  readonly colour: Float32Array;
}

/** Reads a quarter of the pixels. Pixels at the right and lower edge that fill no cell are left out. */
export function cellsOf({ width, height, data }: RgbImage): Cells {
  const side = Math.max(EVERY, Math.round(width / ACROSS));
  const [columns, rows] = [Math.floor(width / side), Math.floor(height / side)];
  const count = columns * rows;
  const vertical = new Float32Array(count);
  const horizontal = new Float32Array(count);
  const colour = new Float32Array(count * 3);
  const stride = width * 3;
  const read = Math.ceil(side / EVERY);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      let [down, across, red, green, blue] = [0, 0, 0, 0, 0];
      for (let y = 0; y < side; y++) {
        const start = (row * side + y) * stride + column * side * 3;
        for (let x = 0; x < side; x += EVERY) {
          const at = start + x * 3;
          const level = data[at + 1] as number;
          red += data[at] as number;
          green += level;
          blue += data[at + 2] as number;
          if (y > 0) down += Math.abs(level - (data[at + 1 - stride] as number));
          if (x > 0) across += Math.abs(level - (data[at + 1 - 3 * EVERY] as number));
        }
      }
      vertical[i] = down / (read * (side - 1));
      horizontal[i] = read === 1 ? 0 : across / ((read - 1) * side);
      colour.set(
        [red, green, blue].map((sum) => sum / (read * side)),
        i * 3,
      );
    }
  }
  return { columns, rows, side, width, height, vertical, horizontal, colour };
}

/** The cells connected with one, by their sides. @param open 1: not yet taken; the cells returned become 2 */
export function component(open: Uint8Array, start: number, columns: number, rows: number): number[] {
  const cells = [start];
  open[start] = 2;
  for (const i of cells) {
    const [x, y] = [i % columns, Math.floor(i / columns)];
    const neighbours = [x > 0 ? i - 1 : -1, x < columns - 1 ? i + 1 : -1, y > 0 ? i - columns : -1];
    if (y < rows - 1) neighbours.push(i + columns);
    for (const next of neighbours) {
      if (next < 0 || open[next] !== 1) continue;
      open[next] = 2;
      cells.push(next);
    }
  }
  return cells;
}

/** Side of the blocks of JPEG, H.264 and H.265 at full size, pixels. */
export const BLOCK = 16;
/** An edge of a block is cut if the step across it exceeds these multiples of that beside it and in the other frame. */
const TIMES = { beside: 3, other: 2 };
const LEAST_STEP = 6;
/** Least edges of a displaced block that are cut, and least number of such blocks: a thing may lie on the grid. */
const LEAST_CUT = 2;
const LEAST_BLOCKS = 8;

/**
 * Blocks whose content belongs elsewhere, as damaged slices show: the picture breaks at the grid of the blocks, while
 * the outline of a real thing crosses it anywhere.
 * @returns indices of cells
 */
export function displacedCells(frame: RgbImage, other: RgbImage, { columns, rows, side }: Cells): number[] {
  const { width } = frame;
  const [across, down] = [Math.floor(width / BLOCK), Math.floor(frame.height / BLOCK)];
  /** Whether the picture breaks before a pixel. `step` and `along` are the offsets of the next pixels over the edge. */
  const isCut = (first: number, step: number, along: number): boolean => {
    const on = stepAt(frame.data, first, step, along);
    if (on <= LEAST_STEP) return false;
    const beside = Math.max(...[-3, 3].map((offset) => stepAt(frame.data, first + offset * step, step, along)));
    const was = stepAt(other.data, first, step, along);
    return on > TIMES.beside * beside + LEAST_STEP && on > TIMES.other * was + LEAST_STEP;
  };
  const cuts = new Uint8Array(across * down);
  const mark = (block: number) => {
    cuts[block] = (cuts[block] as number) + 1;
  };
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const [block, corner] = [y * across + x, y * BLOCK * width + x * BLOCK];
      if (x > 0 && isCut(corner, 1, width)) [block, block - 1].forEach(mark);
      if (y > 0 && isCut(corner, width, 1)) [block, block - across].forEach(mark);
    }
  }
  if (cuts.filter((count) => count >= LEAST_CUT).length < LEAST_BLOCKS) return [];
  const found = new Set<number>();
  for (let block = 0; block < cuts.length; block++) {
    if ((cuts[block] as number) < LEAST_CUT) continue;
    const [left, top] = [(block % across) * BLOCK, Math.floor(block / across) * BLOCK];
    for (let row = Math.floor(top / side); row * side < top + BLOCK && row < rows; row++) {
      for (let column = Math.floor(left / side); column * side < left + BLOCK && column < columns; column++) {
        found.add(row * columns + column);
      }
    }
  }
  return [...found];
}

/** Mean step of green across the edge of a block, levels. @param first pixel behind the edge, at its begin */
function stepAt(data: Uint8Array, first: number, step: number, along: number): number {
  let sum = 0;
  for (let i = 0, at = first; i < BLOCK; i += 2, at += 2 * along) {
    sum += Math.abs((data[at * 3 + 1] as number) - (data[(at - step) * 3 + 1] as number));
  }
  return (2 * sum) / BLOCK;
}
