/**
 * The loops over the pixels of previews, which run for every frame of every camera. They are WebAssembly
 * (preview-loops.wat): in JavaScript they took five times as long. Nothing that they return is in its memory.
 */
import type { Preview, Size } from './images.js';
import { PREVIEW_LOOPS_CODE } from './preview-loops-code.js';
import { instanceOf } from './webassembly-instance.js';

/** Exports of preview-loops.wat. Positions are byte addresses in its memory. */
interface Loops {
  readonly memory: WebAssembly.Memory;
  split(rgb: number, pixels: number, luma: number, blue: number, red: number): void;
  chroma(
    luma: number,
    plane: number,
    stride: number,
    target: number,
    columns: number,
    rows: number,
    factor: number,
  ): void;
  halve(plane: number, stride: number, target: number, columns: number, rows: number): void;
  means(
    plane: number,
    width: number,
    rows: number,
    sums: number,
    borders: number,
    target: number,
    runs: number,
    scale: number,
  ): void;
}

const loops = instanceOf<Loops>(PREVIEW_LOOPS_CODE);

/** Bytes behind a plane that a loop may touch, and the step of addresses. */
const SLACK = 64;

/** @returns the addresses of parts of these lengths, one after the other, and the code with memory for all */
function layout<T extends readonly number[]>(lengths: T): { at: { readonly [I in keyof T]: number }; code: Loops } {
  let end = 0;
  const addresses = lengths.map((length) => {
    const start = end;
    end += SLACK * (1 + Math.ceil(length / SLACK));
    return start;
  });
  return { at: addresses as { [I in keyof T]: number }, code: loops(end) };
}

/** 0.564 and 0.713 of the difference to the luma (ITU-R BT.601), in 1024ths of four pixels. */
const CHROMA_FACTORS = { blue: 144, red: 182 } as const;

/**
 * @param rgb interleaved, 3 * width * height bytes
 * @returns luma (BT.601 in 256ths, rounded down), and chroma as means of two by two pixels, 128 for no colour, at half
 *   the width and height, rounded down
 */
export function planesOfRgb(rgb: Uint8Array, { width, height }: Size): Required<Pick<Preview, 'luma' | 'chroma'>> {
  const [columns, rows] = [width >> 1, height >> 1];
  const [pixels, pairs] = [width * height, columns * rows];
  const { at, code } = layout([pixels, pixels, pixels, pairs, rgb.length] as const);
  const [luma, blue, red, target, from] = at;
  const bytes = new Uint8Array(code.memory.buffer);
  bytes.set(rgb, from);
  code.split(from, pixels, luma, blue, red);
  const chroma = (plane: number, factor: number): Uint8Array => {
    if (pairs > 0) code.chroma(luma, plane, width, target, columns, rows, factor);
    return bytes.slice(target, target + pairs);
  };
  return {
    luma: bytes.slice(luma, luma + pixels),
    chroma: { blue: chroma(blue, CHROMA_FACTORS.blue), red: chroma(red, CHROMA_FACTORS.red) },
  };
}

/**
 * Rounded means of two by two bytes of a plane; the right and lower rest is left out.
 * @param stride bytes per row of the plane
 * @param size of the result
 * @param out receives width * height bytes
 */
export function halvePlane(plane: Uint8Array, stride: number, { width, height }: Size, out: Uint8Array): void {
  if (width * height === 0) return;
  const { at, code } = layout([plane.length, width * height] as const);
  const [from, target] = at;
  const bytes = new Uint8Array(code.memory.buffer);
  bytes.set(plane, from);
  code.halve(from, stride, target, width, height);
  out.set(bytes.subarray(target, target + width * height));
}

/**
 * @param xs first column of each cell, and the end of the last; as `ys`, the rows. A cell has at most 257 rows.
 * @param scale of the result: its units are 1/scale level
 * @returns the rounded mean of each cell, row-major
 */
export function meansOfCells({ luma, width }: Preview, xs: Uint16Array, ys: Uint16Array, scale: number): Int16Array {
  const [columns, rows] = [xs.length - 1, ys.length - 1];
  const lengths = [luma.length, 2 * width, 2 * xs.length, 2 * columns * rows] as const;
  const { at, code } = layout(lengths);
  const [plane, sums, borders, target] = at;
  new Uint8Array(code.memory.buffer).set(luma, plane);
  new Uint16Array(code.memory.buffer).set(xs, borders / 2);
  for (let row = 0; row < rows; row++) {
    const [top, bottom] = [ys[row] as number, ys[row + 1] as number];
    const means = target + 2 * row * columns;
    code.means(plane + top * width, width, bottom - top, sums, borders, means, columns, scale);
  }
  return new Int16Array(code.memory.buffer, target, columns * rows).slice();
}
