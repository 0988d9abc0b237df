/** Baseline detectors that need no training: pixel subtraction, and matching of features. */
import type { Heatmap, RgbImage } from '../../src/base/images.js';
import type { Peak } from './predictions.js';

/**
 * Output of a detector for one pair: a score of any unit, higher for a change, and the peak of its map in each frame.
 */
export interface Signal {
  readonly score: number;
  readonly peaks: { readonly before: Peak; readonly after: Peak };
}

/** Frames are compared at this size; each cell is the mean of the pixels that it covers. */
const SUBTRACTION_GRID = { width: 96, height: 64 } as const;

/**
 * Mean absolute difference (0..1) over cells and channels, after both frames are reduced to SUBTRACTION_GRID by
 * averaging. Both frames have the same map, because subtraction does not separate appearance from disappearance.
 */
export function pixelSubtraction(before: RgbImage, after: RgbImage): Signal {
  const { width, height } = SUBTRACTION_GRID;
  const [a, b] = [reduce(before, width, height), reduce(after, width, height)];
  const data = new Float32Array(width * height);
  let total = 0;
  for (let cell = 0; cell < data.length; cell++) {
    let sum = 0;
    for (let c = cell * 3; c < cell * 3 + 3; c++) sum += Math.abs((a[c] as number) - (b[c] as number));
    data[cell] = sum / (3 * 255);
    total += sum / (3 * 255);
  }
  const peak = peakOf({ width, height, data });
  return { score: total / data.length, peaks: { before: peak, after: peak } };
}

/** Averages (or repeats) the pixels to width x height cells. @returns [height, width, 3], 0..255 */
function reduce(image: RgbImage, width: number, height: number): Float32Array {
  const out = new Float32Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const [y0, y1] = span(y, height, image.height);
    for (let x = 0; x < width; x++) {
      const [x0, x1] = span(x, width, image.width);
      const sums = [0, 0, 0];
      for (let row = y0; row < y1; row++) {
        for (let i = (row * image.width + x0) * 3; i < (row * image.width + x1) * 3; i += 3) {
          for (let c = 0; c < 3; c++) sums[c] = (sums[c] as number) + (image.data[i + c] as number);
        }
      }
      for (let c = 0; c < 3; c++) out[(y * width + x) * 3 + c] = (sums[c] as number) / ((y1 - y0) * (x1 - x0));
    }
  }
  return out;
}

/** The pixels [from, to) of `size` that cell `index` of `cells` covers; at least one */
function span(index: number, cells: number, size: number): [number, number] {
  const from = Math.min(size - 1, Math.floor((index * size) / cells));
  return [from, Math.max(from + 1, Math.floor(((index + 1) * size) / cells))];
}

/** Features of one frame: data is [channels, height, width]. */
interface FeatureMap {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly data: Float32Array;
}

/**
 * Untrained matching: the map of a frame is the cosine distance of each cell to its best match among the other
 * frame's cells within `radius` cells. The score is the greatest distance in either map.
 * @throws RangeError if the two maps differ in shape
 */
export function featureMatching(before: FeatureMap, after: FeatureMap, radius: number): Signal {
  if (before.channels !== after.channels || before.height !== after.height || before.width !== after.width) {
    throw new RangeError(`feature maps are ${shapeOf(before)} and ${shapeOf(after)}, expected equal shapes`);
  }
  const [a, b] = [unitCells(before), unitCells(after)];
  const { channels, height, width } = before;
  const maps = { before: new Float32Array(height * width).fill(2), after: new Float32Array(height * width).fill(2) };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cell = y * width + x;
      for (let v = Math.max(0, y - radius); v <= Math.min(height - 1, y + radius); v++) {
        for (let u = Math.max(0, x - radius); u <= Math.min(width - 1, x + radius); u++) {
          const other = v * width + u;
          let dot = 0;
          for (let c = 0; c < channels; c++)
            dot += (a[cell * channels + c] as number) * (b[other * channels + c] as number);
          const distance = 1 - dot;
          if (distance < (maps.before[cell] as number)) maps.before[cell] = distance;
          if (distance < (maps.after[other] as number)) maps.after[other] = distance;
        }
      }
    }
  }
  const peaks = {
    before: peakOf({ width, height, data: maps.before }),
    after: peakOf({ width, height, data: maps.after }),
  };
  return { score: Math.max(peaks.before.value, peaks.after.value), peaks };
}

const shapeOf = ({ channels, height, width }: FeatureMap): string => `${channels}x${height}x${width}`;

/** @returns [height * width, channels]: cells of Euclidean length 1; a cell of zeros stays zero */
function unitCells({ channels, height, width, data }: FeatureMap): Float32Array {
  const cells = height * width;
  const out = new Float32Array(cells * channels);
  for (let cell = 0; cell < cells; cell++) {
    let squares = 0;
    for (let c = 0; c < channels; c++) squares += (data[c * cells + cell] as number) ** 2;
    const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
    for (let c = 0; c < channels; c++) out[cell * channels + c] = (data[c * cells + cell] as number) * scale;
  }
  return out;
}

/**
 * The greatest value of a map and the centre of its cell in fractions of the frame; of equal values the first in
 * reading order.
 */
export function peakOf({ width, height, data }: Heatmap): Peak {
  let best = 0;
  for (let i = 1; i < data.length; i++) if ((data[i] as number) > (data[best] as number)) best = i;
  return { x: ((best % width) + 0.5) / width, y: (Math.floor(best / width) + 0.5) / height, value: data[best] ?? 0 };
}
