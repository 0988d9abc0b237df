/**
 * Frames as planes of numbers, at the working size of all measurements but grain. A plane is row-major float32 with
 * its origin at the top left. Pixel (x, y) has its centre at (x, y). Colours are levels 0..255.
 */
import type { RgbImage, Size } from '../base/images.js';
import { COLOUR_CELL, lumaOfSquares } from './squares.js';

export interface Plane {
  readonly width: number;
  readonly height: number;
  /** length = width * height */
  readonly data: Float32Array;
}

/** Pixels: the longer side of a working frame is at most this long. */
export const WORKING_SIDE = 320;

/**
 * A frame at working size; colours are means over COLOUR_CELL x COLOUR_CELL working pixels, which suffices for tiles.
 */
export interface WorkingFrame {
  readonly luma: Plane;
  readonly red: Plane;
  readonly green: Plane;
  readonly blue: Plane;
}

/** @returns a plane of zeros; inside `withPlaneMemory` it is valid until that ends */
export const plane = ({ width, height }: Size): Plane => ({ width, height, data: zeros(width * height) });

/** Memory of the planes of one `withPlaneMemory`, kept for the next. */
let memory = new Float32Array(0);
/** Values of `memory` that are in use, and that were asked for; null outside `withPlaneMemory`. */
let inUse: { taken: number; wanted: number } | null = null;

/**
 * Runs `work`, whose planes share one memory that is reused by the next call: new memory for every plane costs as much
 * as the work on it, in page faults and collections of garbage.
 * @param work must not return or keep a plane
 */
export function withPlaneMemory<T>(work: () => T): T {
  inUse = { taken: 0, wanted: 0 };
  try {
    return work();
  } finally {
    if (inUse.wanted > memory.length) memory = new Float32Array(inUse.wanted);
    inUse = null;
  }
}

function zeros(length: number): Float32Array {
  if (inUse === null) return new Float32Array(length);
  inUse.wanted += length;
  if (inUse.taken + length > memory.length) return new Float32Array(length);
  const data = memory.subarray(inUse.taken, inUse.taken + length);
  inUse.taken += length;
  return data.fill(0);
}

/** The number of pixels per side that become one working pixel. */
export const reductionOf = ({ width, height }: Size): number =>
  Math.max(1, Math.ceil(Math.max(width, height) / WORKING_SIDE));

/**
 * Reduces by means over squares of whole pixels, so that nothing aliases and a shift stays a shift. Up to reductionOf
 * - 1 pixels that fill no square are left out at the right and the lower edge; of the colours, those that fill no
 * cell.
 */
export function toWorking(image: RgbImage): WorkingFrame {
  const step = reductionOf(image);
  const size = { width: Math.floor(image.width / step), height: Math.floor(image.height / step) };
  const luma = plane(size);
  const cells = { width: Math.floor(size.width / COLOUR_CELL), height: Math.floor(size.height / COLOUR_CELL) };
  const [red, green, blue] = [plane(cells), plane(cells), plane(cells)];
  const share = 1 / step ** 2;
  const useColours = (sums: Int32Array, row: number) => {
    if (row >= cells.height) return;
    for (let x = 0, to = row * cells.width; x < cells.width; x++, to++) {
      red.data[to] = ((sums[4 * x] as number) * share) / COLOUR_CELL ** 2;
      green.data[to] = ((sums[4 * x + 1] as number) * share) / COLOUR_CELL ** 2;
      blue.data[to] = ((sums[4 * x + 2] as number) * share) / COLOUR_CELL ** 2;
    }
  };
  // ITU-R BT.601
  const weights = { red: 0.299, green: 0.587, blue: 0.114, share };
  lumaOfSquares(image, { left: 0, top: 0, ...size, step }, weights, luma.data, useColours);
  return { luma, red, green, blue };
}

/** Mean over a (2r+1) x (2r+1) window, which is cut at the border. */
export function boxMean(input: Plane, radius: number): Plane {
  const { width, height, data } = input;
  const out = plane(input);
  const window = slidingWindow(width, radius);
  const sums = new Float64Array(width + 2 * window.pad);
  for (let y = 0; y < Math.min(radius, height); y++) addRow(sums, data, y * width, window.pad, width, 1);
  for (let y = 0; y < height; y++) {
    if (y + radius < height) addRow(sums, data, (y + radius) * width, window.pad, width, 1);
    if (y - radius > 0) addRow(sums, data, (y - radius - 1) * width, window.pad, width, -1);
    const share = 1 / rowsIn(y, radius, height);
    let sum = 0;
    for (let x = 0; x <= 2 * radius; x++) sum += sums[x] as number;
    for (let x = 0, i = y * width; x < width; x++, i++) {
      sum += (sums[x + 2 * radius + 1] as number) - (sums[x] as number);
      out.data[i] = sum * share * (window.share[x] as number);
    }
  }
  return out;
}

/**
 * The sliding window runs along a row of column sums with `pad` zeros at either end, so it needs no test for borders.
 * `share[x]` is 1 / the number of columns around x that are inside the plane.
 */
function slidingWindow(width: number, radius: number): { readonly pad: number; readonly share: Float64Array } {
  const share = Float64Array.from({ length: width }, (_, x) => 1 / rowsIn(x, radius, width));
  return { pad: radius + 1, share };
}

const rowsIn = (at: number, radius: number, length: number): number =>
  Math.min(length - 1, at + radius) - Math.max(0, at - radius) + 1;

function addRow(
  sums: Float64Array,
  data: Float32Array,
  start: number,
  pad: number,
  length: number,
  sign: 1 | -1,
): void {
  for (let x = 0; x < length; x++) sums[pad + x] = (sums[pad + x] as number) + sign * (data[start + x] as number);
}

const NORMALISING_RADIUS = 3;
/** Levels: damps the noise of flat places, which have less local contrast. */
const FLAT_CONTRAST = 5;

/**
 * The structure plane: (luma - local mean) / (local deviation + FLAT_CONTRAST). Gain, offset and soft shadows cancel;
 * gamma nearly does.
 */
export function structureOf(luma: Plane): Plane {
  const mean = boxMean(luma, NORMALISING_RADIUS);
  const squares = plane(luma);
  const { data } = luma;
  for (let i = 0; i < data.length; i++) squares.data[i] = (data[i] as number) * (data[i] as number);
  const out = boxMean(squares, NORMALISING_RADIUS);
  for (let i = 0; i < data.length; i++) {
    const m = mean.data[i] as number;
    const deviation = Math.sqrt(Math.max(0, (out.data[i] as number) - m * m));
    out.data[i] = ((data[i] as number) - m) / (deviation + FLAT_CONTRAST);
  }
  return out;
}

/** Half the size, by means of 2 x 2 pixels: (2x, 2y) to (2x+1, 2y+1). An odd last row or column is left out. */
export function halved(input: Plane): Plane {
  const { width, data } = input;
  const out = plane({ width: width >> 1, height: input.height >> 1 });
  const halves = out.data;
  for (let y = 0, to = 0; y < out.height; y++) {
    for (let i = 2 * y * width, end = i + 2 * out.width; i < end; i += 2, to++) {
      const j = i + width;
      halves[to] = ((data[i] as number) + (data[i + 1] as number) + (data[j] as number) + (data[j + 1] as number)) / 4;
    }
  }
  return out;
}
