/**
 * Pictures as planes of numbers, at the one working size that everything here measures at. A plane is row-major float32,
 * origin top left, pixel (x, y) has its centre at (x, y); colour values are levels 0..255.
 */
import type { RgbImage } from '../images.js';

export interface Plane {
  readonly width: number;
  readonly height: number;
  /** length = width * height */
  readonly data: Float32Array;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The longer side of a working frame is at most this many pixels. README.md has the errors and the time at other sizes. */
export const WORKING_SIDE = 320;

/** A frame at working size. */
export interface WorkingFrame {
  readonly red: Plane;
  readonly green: Plane;
  readonly blue: Plane;
  readonly luma: Plane;
}

export const plane = ({ width, height }: Size): Plane => ({
  width,
  height,
  data: new Float32Array(width * height),
});

/** How many pixels a side become one working pixel. */
export const reductionOf = ({ width, height }: Size): number =>
  Math.max(1, Math.ceil(Math.max(width, height) / WORKING_SIDE));

/**
 * Means over squares of whole pixels, so that nothing aliases and shifts stay shifts. Pixels that no longer make a square, at most
 * reductionOf - 1 at the right and the lower edge, are left out.
 */
export function toWorking(image: RgbImage): WorkingFrame {
  const factor = reductionOf(image);
  const size = { width: Math.floor(image.width / factor), height: Math.floor(image.height / factor) };
  const [red, green, blue, luma] = [plane(size), plane(size), plane(size), plane(size)];
  const { data } = image;
  const share = 1 / factor ** 2;
  // Whole numbers throughout: this loop reads every byte of the picture.
  const sums = new Int32Array(size.width * factor * 3);
  for (let y = 0, to = 0; y < size.height; y++) {
    sums.fill(0);
    for (let row = 0; row < factor; row++) {
      const start = (y * factor + row) * image.width * 3;
      for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (data[start + i] as number);
    }
    for (let x = 0, i = 0; x < size.width; x++, to++) {
      let [r, g, b] = [0, 0, 0];
      for (let column = 0; column < factor; column++, i += 3) {
        r += sums[i] as number;
        g += sums[i + 1] as number;
        b += sums[i + 2] as number;
      }
      red.data[to] = r * share;
      green.data[to] = g * share;
      blue.data[to] = b * share;
      luma.data[to] = (0.299 * r + 0.587 * g + 0.114 * b) * share; // ITU-R BT.601
    }
  }
  return { red, green, blue, luma };
}

/** Mean over a (2r+1) x (2r+1) window, cut at the border (means over fewer pixels there). */
export function boxMean(input: Plane, radius: number): Plane {
  const { width, height } = input;
  const across = scratchOf(input.data.length);
  for (let y = 0; y < height; y++) runningMean(input.data, across, y * width, width, radius);
  const out = plane(input);
  // Column sums row by row, because walking down columns misses the cache.
  const sums = new Float64Array(width);
  for (let y = 0; y <= Math.min(radius, height - 1); y++) addRow(sums, across, y * width, 1);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [Math.max(0, y - radius), Math.min(height - 1, y + radius)];
    const share = 1 / (bottom - top + 1);
    for (let x = 0, i = y * width; x < width; x++, i++) out.data[i] = (sums[x] as number) * share;
    if (y - radius >= 0) addRow(sums, across, (y - radius) * width, -1);
    if (y + radius + 1 < height) addRow(sums, across, (y + radius + 1) * width, 1);
  }
  return out;
}

let scratch = new Float32Array(0);
/** Memory for the first half of a box mean, used again by the next: the planes of a pair are many and large. */
function scratchOf(length: number): Float32Array {
  if (scratch.length !== length) scratch = new Float32Array(length);
  return scratch;
}

function addRow(sums: Float64Array, data: Float32Array, start: number, sign: 1 | -1): void {
  for (let x = 0; x < sums.length; x++) sums[x] = (sums[x] as number) + sign * (data[start + x] as number);
}

/** Of one row of `length` values from `start` on. */
function runningMean(
  from: Float32Array,
  to: Float32Array,
  start: number,
  length: number,
  radius: number,
): void {
  const reach = Math.min(radius, length - 1);
  let sum = 0;
  for (let i = 0; i <= reach; i++) sum += from[start + i] as number;
  let i = 0;
  for (; i < length && (i <= radius || i + radius >= length); i++) {
    const count = Math.min(length - 1, i + radius) - Math.max(0, i - radius) + 1;
    to[start + i] = sum / count;
    if (i - radius >= 0) sum -= from[start + i - radius] as number;
    if (i + radius + 1 < length) sum += from[start + i + radius + 1] as number;
  }
  const share = 1 / (2 * radius + 1);
  for (const end = length - radius - 1; i < end; i++) {
    to[start + i] = sum * share;
    sum += (from[start + i + radius + 1] as number) - (from[start + i - radius] as number);
  }
  for (; i < length; i++) {
    const count = length - Math.max(0, i - radius);
    to[start + i] = sum / Math.min(count, 2 * radius + 1);
    if (i - radius >= 0) sum -= from[start + i - radius] as number;
    if (i + radius + 1 < length) sum += from[start + i + radius + 1] as number;
  }
}

const NORMALISING_RADIUS = 6;
/** Levels of local contrast below which a place counts as flat: its noise is not blown up to look like structure. */
const FLAT_CONTRAST = 5;

/**
 * What is left of a picture when its light is taken away: (luma - local mean) / (local deviation + FLAT_CONTRAST). Gain, offset
 * and slow shadows cancel; gamma nearly does.
 */
export function structureOf(luma: Plane): Plane {
  const mean = boxMean(luma, NORMALISING_RADIUS);
  const squares = plane(luma);
  for (let i = 0; i < luma.data.length; i++) squares.data[i] = (luma.data[i] as number) ** 2;
  const meanSquare = boxMean(squares, NORMALISING_RADIUS);
  const out = plane(luma);
  for (let i = 0; i < luma.data.length; i++) {
    const m = mean.data[i] as number;
    const deviation = Math.sqrt(Math.max(0, (meanSquare.data[i] as number) - m * m));
    out.data[i] = ((luma.data[i] as number) - m) / (deviation + FLAT_CONTRAST);
  }
  return out;
}

/** Half the size, means of 2 x 2 pixels; an odd last row or column is left out. Pixel (x, y) covers (2x, 2y) to (2x+1, 2y+1). */
export function halved(input: Plane): Plane {
  const out = plane({ width: input.width >> 1, height: input.height >> 1 });
  for (let y = 0; y < out.height; y++) {
    for (let x = 0; x < out.width; x++) {
      const i = 2 * y * input.width + 2 * x;
      const j = i + input.width;
      out.data[y * out.width + x] =
        ((input.data[i] as number) +
          (input.data[i + 1] as number) +
          (input.data[j] as number) +
          (input.data[j + 1] as number)) /
        4;
    }
  }
  return out;
}
