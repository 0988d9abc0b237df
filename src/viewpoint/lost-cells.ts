/** Cells of a frame for the search of lost parts: how they vary, their colours, connected ones, displaced blocks. */
import type { RgbImage } from '../base/images.js';

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
      for (let x = 0; x < side; x += EVERY) {
        let at = row * side * stride + (column * side + x) * 3;
        let above = data[at + 1] as number;
        const left = x === 0 ? 0 : 3 * EVERY;
        for (let y = 0; y < side; y++, at += stride) {
          const level = data[at + 1] as number;
          red += data[at] as number;
          green += level;
          blue += data[at + 2] as number;
          down += Math.abs(level - above);
          across += Math.abs(level - (data[at + 1 - left] as number));
          above = level;
        }
      }
      vertical[i] = down / (read * (side - 1));
      horizontal[i] = read === 1 ? 0 : across / ((read - 1) * side);
      colour[i * 3] = red / (read * side);
      colour[i * 3 + 1] = green / (read * side);
      colour[i * 3 + 2] = blue / (read * side);
    }
  }
  return { columns, rows, side, width, height, vertical, horizontal, colour };
}

/** @returns the numbers below `length` that pass, without a list of the others */
export function indicesWhere(length: number, passes: (i: number) => boolean): number[] {
  const found: number[] = [];
  for (let i = 0; i < length; i++) if (passes(i)) found.push(i);
  return found;
}

/** Side of the blocks of JPEG, H.264 and H.265 at full size, pixels. */
export const BLOCK = 16;
/** An edge is cut if one side of it differs from the other frame by that many times as much, and levels more. */
const CUT = { times: 3, more: 8 };
/** The step across it exceeds those beside it and in the other frame; by so much if both sides differ. */
const STEP = { times: 3, more: 6 };
/**
 * Least edges of a displaced block that are cut, and least number of such blocks: a thing may lie on the grid. Three
 * suffice in frames of less than 150 blocks, in which one row has twelve.
 */
const LEAST_CUT = 2;
const leastBlocks = (all: number): number => (all < 150 ? 3 : 5);
/** On other grids a thing is cut as often. */
const OTHER_GRIDS = [4, 8, 12];
const TIMES_OTHER = 4;

/**
 * Blocks whose content belongs elsewhere, as damaged slices show: the frames begin to differ at the grid of the blocks,
 * while the outline of a real thing crosses it anywhere.
 * @returns indices of cells
 */
export function displacedCells(frame: RgbImage, other: RgbImage, { columns, rows, side }: Cells): number[] {
  const cuts = cutEdges(frame, other, 0);
  const displaced = displacedIn(cuts);
  const most = () => Math.max(...OTHER_GRIDS.map((offset) => displacedIn(cutEdges(frame, other, offset)).length));
  if (displaced.length < leastBlocks(cuts.length) || displaced.length < TIMES_OTHER * most()) return [];
  const across = Math.floor(frame.width / BLOCK);
  const lines = new Set(displaced.map((block) => Math.floor(block / across)));
  const found = new Set<number>();
  for (const [block, count] of cuts.entries()) {
    const line = Math.floor(block / across);
    if (count === 0 || !lines.has(line)) continue;
    const [left, top] = [(block % across) * BLOCK, line * BLOCK];
    for (let row = Math.floor(top / side); row * side < top + BLOCK && row < rows; row++) {
      for (let column = Math.floor(left / side); column * side < left + BLOCK && column < columns; column++) {
        found.add(row * columns + column);
      }
    }
  }
  return [...found];
}

const displacedIn = (cuts: Uint8Array): number[] =>
  indicesWhere(cuts.length, (block) => (cuts[block] as number) >= LEAST_CUT);

/** @param offset of the grid, pixels @returns number of edges of each block at which it begins to differ, row-major */
function cutEdges(frame: RgbImage, other: RgbImage, offset: number): Uint8Array {
  const { width } = frame;
  const across = Math.floor((width - offset) / BLOCK);
  const down = Math.floor((frame.height - offset) / BLOCK);
  const cuts = new Uint8Array(across * down);
  /**
   * Most edges show no step. A video coder renews blocks, so that frames may differ by blocks without one.
   * @param pixel the first of the block behind the edge. `step`, `along`: to the next pixels over it and on it
   */
  const cut = (pixel: number, step: number, along: number, block: number, beforeIt: number) => {
    const on = stepAt(frame.data, pixel, step, along) - STEP.more;
    if (on <= 0 || on <= stepAt(other.data, pixel, step, along)) return;
    const behind = differenceAt(frame.data, other.data, pixel, step, along);
    const ahead = differenceAt(frame.data, other.data, pixel - 2 * step, step, along);
    const [less, more] = behind < ahead ? [behind, ahead] : [ahead, behind];
    if (more <= CUT.more) return;
    const isOneSided = more - less > CUT.more && more > CUT.times * less;
    const times = isOneSided ? 1 : STEP.times;
    const stepBeside = (away: number) => stepAt(frame.data, pixel + away * step, step, along);
    if (on <= times * stepBeside(-3) || on <= times * stepBeside(3)) return;
    // Strong compression also makes steps half a block away. The other grids keep them as the measure of the coder.
    const exceeding = isOneSided ? on + STEP.more : on;
    const ofCoder = () => Math.max(stepBeside(-BLOCK / 2), stepBeside(BLOCK / 2));
    if (offset === 0 && exceeding <= ofCoder()) return;
    const displaced = isOneSided ? [behind > ahead ? block : beforeIt] : [block, beforeIt];
    for (const one of displaced) cuts[one] = (cuts[one] as number) + 1;
  };
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const [block, pixel] = [y * across + x, (offset + y * BLOCK) * width + offset + x * BLOCK];
      if (x > 0) cut(pixel, 1, width, block, block - 1);
      if (y > 0) cut(pixel, width, 1, block, block - across);
    }
  }
  return cuts;
}

/** Mean difference of green in two lines of pixels along an edge, levels. */
function differenceAt(data: Uint8Array, other: Uint8Array, first: number, step: number, along: number): number {
  let sum = 0;
  for (let i = 0, at = first * 3 + 1; i < BLOCK; i += 2, at += 6 * along) {
    const next = at + 3 * step;
    sum += Math.abs((data[at] as number) - (other[at] as number));
    sum += Math.abs((data[next] as number) - (other[next] as number));
  }
  return sum / BLOCK;
}

/** Mean step of green across an edge, levels. @param first pixel behind the edge, at its begin */
function stepAt(data: Uint8Array, first: number, step: number, along: number): number {
  let sum = 0;
  for (let i = 0, at = first * 3 + 1; i < BLOCK; i += 2, at += 6 * along) {
    sum += Math.abs((data[at] as number) - (data[at - 3 * step] as number));
  }
  return (2 * sum) / BLOCK;
}
