/**
 * Resampler: a separable triangle filter over a box of an image, with the semantics of Pillow's Image.resize(size,
 * BILINEAR, box): widened by the scale when shrinking (so it is antialiased), pixel i covers [i, i + 1), weights are
 * normalised, and pixels just outside the box take part where the filter reaches them. Training resizes with Pillow,
 * and the result here is the same to the bit (test/model/preprocess.test.ts): integer weights, 8 bits after each pass,
 * and the same pass first.
 *
 * The loops are WebAssembly (resample.wat): in JavaScript they took seven times as long.
 */
import type { RgbImage } from '../base/images.js';
import { copyBytes, instanceOf } from '../base/webassembly-instance.js';
import { RESAMPLE_CODE } from './resample-code.js';

/** A box inside an image, in pixels; may be fractional. */
export interface PixelBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Exports of resample.wat. Positions are byte addresses in its memory. */
interface Loops {
  readonly memory: WebAssembly.Memory;
  across(
    source: number,
    stride: number,
    rows: number,
    target: number,
    targetStride: number,
    width: number,
    taps: number,
  ): void;
  down(source: number, stride: number, count: number, weights: number, target: number, bytes: number): void;
  spread(row: number, width: number, levels: number, target: number, plane: number): void;
}

/** Pillow's PRECISION_BITS for 8-bit images: weights in units of 2^-22, so that 255 times their sum fits 32 bits. */
const UNIT = 2 ** 22;
/** Target rows per band: the source rows of a band stay in the processor's cache. */
const BAND = 16;
/** Bytes that `down` processes at once. `across` touches one byte behind the last pixel. */
const STEP = 8;
/** Size of the record of one column in `across`: first source byte, number of taps, address of the weights. */
const TAP_BYTES = 12;

const loops = instanceOf<Loops>(RESAMPLE_CODE);

/**
 * Resizes a box of the image.
 * @param image is not changed; may be in shared memory
 * @param levels [3, 256]: the output value of each of the 256 levels per channel
 * @param out receives planar float32 [3, height, width]
 */
export function resample(
  image: RgbImage,
  box: PixelBox,
  width: number,
  height: number,
  levels: Float32Array,
  out: Float32Array,
): void {
  const columns = triangleTaps(image.width, box.x, box.width, width);
  const rows = triangleTaps(image.height, box.y, box.height, height);
  const [left, right] = [columns.first(0), columns.end(width - 1)];

  // Layout of the memory, in bytes: taps and weights of the columns, weights of the rows, a band of the source, the
  // output of its first pass, a row of the result, the levels, and the band of the result as three planes.
  const stride = image.width * 3;
  const used = (right - left) * 3;
  const resultStride = roundedSteps(width * 3);
  const most = mostRowsOfABand(rows, height);
  const columnWeights = width * TAP_BYTES;
  const rowWeights = columnWeights + columns.weights.byteLength;
  const source = rowWeights + rows.weights.byteLength;
  const halfway = source + roundedSteps(most * stride) + STEP;
  const result = halfway + Math.max(most * resultStride, roundedSteps(used)) + STEP;
  const levelsAt = result + resultStride + STEP;
  const planar = levelsAt + levels.byteLength;
  const plane = BAND * width;
  const { memory, across, down, spread } = loops(planar + 3 * plane * 4);
  const words = new Int32Array(memory.buffer);
  const floats = new Float32Array(memory.buffer);
  floats.set(levels, levelsAt / 4);
  for (let x = 0, tap = 0; x < width; x++) {
    words[tap++] = (columns.first(x) - left) * 3;
    words[tap++] = columns.count(x);
    words[tap++] = columnWeights + x * columns.most * 4;
  }
  words.set(columns.weights, columnWeights / 4);
  words.set(rows.weights, rowWeights / 4);

  const downFirst = verticalFirst(image, width, height);
  for (let start = 0; start < height; start += BAND) {
    const stop = Math.min(start + BAND, height);
    const [top, bottom] = [rows.first(start), rows.end(stop - 1)];
    copyBytes(image.data.subarray(top * stride, bottom * stride), memory, source);
    const corner = source + left * 3;
    if (!downFirst) across(corner, stride, bottom - top, halfway, resultStride, width, 0);
    for (let y = start; y < stop; y++) {
      const [above, count, weights] = [rows.first(y) - top, rows.count(y), rowWeights + y * rows.most * 4];
      if (downFirst) {
        down(corner + above * stride, stride, count, weights, halfway, used);
        across(halfway, used, 1, result, resultStride, width, 0);
      } else {
        down(halfway + above * resultStride, resultStride, count, weights, result, width * 3);
      }
      spread(result, width, levelsAt, planar + (y - start) * width * 4, plane * 4);
    }
    for (let channel = 0; channel < 3; channel++) {
      const first = planar / 4 + channel * plane;
      out.set(floats.subarray(first, first + (stop - start) * width), (channel * height + start) * width);
    }
  }
}

/**
 * Whether Pillow (13.0) runs the vertical pass first. The order changes a rounding, and so some values by one. The rule
 * was found by comparison with Pillow for 550 pairs of sizes.
 */
const verticalFirst = (image: RgbImage, width: number, height: number): boolean =>
  image.height - height > 2 * Math.max(0, image.width - width);

function mostRowsOfABand(rows: Taps, height: number): number {
  let most = 0;
  for (let start = 0; start < height; start += BAND) {
    most = Math.max(most, rows.end(Math.min(start + BAND, height) - 1) - rows.first(start));
  }
  return most;
}

const roundedSteps = (bytes: number) => Math.ceil(bytes / STEP) * STEP;

/** Per target position: the first source pixel, the number of source pixels, and their weights (`most` slots each). */
interface Taps {
  first(i: number): number;
  count(i: number): number;
  /** first + count */
  end(i: number): number;
  readonly weights: Int32Array;
  readonly most: number;
}

function triangleTaps(source: number, start: number, length: number, target: number): Taps {
  // Pillow takes the box's corners in single precision.
  const [from, to] = [Math.fround(start), Math.fround(start + length)];
  const scale = Math.fround(to - from) / target;
  const support = Math.max(1, scale);
  const most = 2 * Math.ceil(support) + 1;
  const first = new Int32Array(target);
  const count = new Int32Array(target);
  const weights = new Int32Array(target * most);
  const exact = new Float64Array(most);
  for (let i = 0; i < target; i++) {
    const centre = from + (i + 0.5) * scale;
    const low = Math.max(0, Math.trunc(centre - support + 0.5));
    const high = Math.min(source, Math.trunc(centre + support + 0.5));
    let sum = 0;
    for (let pixel = low; pixel < high; pixel++) {
      const weight = Math.max(0, 1 - Math.abs((pixel - centre + 0.5) * (1 / support)));
      exact[pixel - low] = weight;
      sum += weight;
    }
    for (let tap = 0; tap < high - low; tap++) {
      weights[i * most + tap] = Math.trunc(0.5 + ((exact[tap] as number) / sum) * UNIT);
    }
    first[i] = low;
    count[i] = high - low;
  }
  return {
    first: (i) => first[i] as number,
    count: (i) => count[i] as number,
    end: (i) => (first[i] as number) + (count[i] as number),
    weights,
    most,
  };
}
