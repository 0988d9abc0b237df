/**
 * From a frame's pixels to the network's input: the one resampler of training and serving.
 *
 * A separable triangle filter over a box, widened by the scale when shrinking (so it is antialiased), with the
 * semantics of Pillow's Image.resize(size, BILINEAR, box): pixel i covers [i, i + 1), weights are normalised, and
 * pixels just outside the box take part where the filter reaches them. Pillow rounds to 8 bits after each pass and this does
 * not, so the two agree within 1/255 (test/model/preprocess.test.ts).
 */
import type { RgbImage } from '../images.js';

/** In pixels of the image, may be fractional; lies inside the image. */
export interface PixelBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Per channel R, G, B, for pixels 0..1: (pixel - mean) / std. */
export interface Normalisation {
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
}

export const wholeFrame = (image: RgbImage): PixelBox => ({
  x: 0,
  y: 0,
  width: image.width,
  height: image.height,
});

/**
 * @param out receives planar float32 [3, height, width]; length = 3 * height * width
 * @throws RangeError where the box is empty or leaves the image, or `out` has another length
 */
export function resizeNormalised(
  image: RgbImage,
  box: PixelBox,
  width: number,
  height: number,
  { mean, std }: Normalisation,
  out: Float32Array,
): void {
  assertInside(box, image);
  if (out.length !== 3 * width * height) {
    throw new RangeError(
      `out has ${out.length} values, expected ${3 * width * height} (3 x ${height} x ${width})`,
    );
  }
  const columns = triangleTaps(image.width, box.x, box.width, width);
  const rows = triangleTaps(image.height, box.y, box.height, height);
  const plane = width * height;
  const [scaleR, scaleG, scaleB] = std.map((s) => 1 / (255 * s)) as [number, number, number];
  const [shiftR, shiftG, shiftB] = mean.map((m, i) => m / (std[i] as number)) as [number, number, number];
  const firstColumn = columns.first[0] as number;
  const lastColumn = (columns.first[width - 1] as number) + (columns.count[width - 1] as number);
  const mixed = new Float32Array((lastColumn - firstColumn) * 3);
  for (let y = 0; y < height; y++) {
    mixRows(image, rows, y, firstColumn, mixed);
    for (let x = 0, to = y * width; x < width; x++, to++) {
      let r = 0;
      let g = 0;
      let b = 0;
      let from = ((columns.first[x] as number) - firstColumn) * 3;
      let tap = x * columns.most;
      for (const end = tap + (columns.count[x] as number); tap < end; tap++, from += 3) {
        const weight = columns.weights[tap] as number;
        r += weight * (mixed[from] as number);
        g += weight * (mixed[from + 1] as number);
        b += weight * (mixed[from + 2] as number);
      }
      out[to] = r * scaleR - shiftR;
      out[to + plane] = g * scaleG - shiftG;
      out[to + 2 * plane] = b * scaleB - shiftB;
    }
  }
}

/** Row y of the vertically resampled image: interleaved float32, 0..255, the columns from `firstColumn` on that fit `mixed`. */
function mixRows(image: RgbImage, rows: Taps, y: number, firstColumn: number, mixed: Float32Array): void {
  const { data } = image;
  const { length } = mixed;
  const stride = image.width * 3;
  const start = (rows.first[y] as number) * stride + firstColumn * 3;
  const taps = rows.weights.subarray(y * rows.most, y * rows.most + (rows.count[y] as number));
  // Two rows at a time: half the passes over `mixed`.
  for (let tap = 0; tap < taps.length; tap += 2) {
    const upper = taps[tap] as number;
    const lower = taps[tap + 1] ?? 0;
    const a = start + tap * stride;
    const b = tap + 1 < taps.length ? a + stride : a;
    if (tap === 0) {
      for (let i = 0; i < length; i++) {
        mixed[i] = upper * (data[a + i] as number) + lower * (data[b + i] as number);
      }
    } else {
      for (let i = 0; i < length; i++) {
        mixed[i] = (mixed[i] as number) + upper * (data[a + i] as number) + lower * (data[b + i] as number);
      }
    }
  }
}

/** For every output position: the first source pixel, how many take part, and their weights (`most` places each). */
interface Taps {
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly weights: Float32Array;
  readonly most: number;
}

function triangleTaps(source: number, start: number, length: number, target: number): Taps {
  const scale = length / target;
  const support = Math.max(1, scale);
  const most = 2 * Math.ceil(support) + 1;
  const first = new Int32Array(target);
  const count = new Int32Array(target);
  const weights = new Float32Array(target * most);
  for (let i = 0; i < target; i++) {
    const centre = start + (i + 0.5) * scale;
    const from = Math.max(0, Math.trunc(centre - support + 0.5));
    const to = Math.min(source, Math.trunc(centre + support + 0.5));
    const at = i * most;
    let sum = 0;
    for (let pixel = from; pixel < to; pixel++) {
      const weight = Math.max(0, 1 - Math.abs((pixel + 0.5 - centre) / support));
      weights[at + pixel - from] = weight;
      sum += weight;
    }
    for (let tap = at; tap < at + to - from; tap++) weights[tap] = (weights[tap] as number) / sum;
    first[i] = from;
    count[i] = to - from;
  }
  return { first, count, weights, most };
}

/** How far a box may stick out through rounding of normalised coordinates. */
const ROUNDING = 1e-3;

function assertInside(box: PixelBox, image: RgbImage): void {
  const { x, y, width, height } = box;
  const inside =
    x >= -ROUNDING &&
    y >= -ROUNDING &&
    width > 0 &&
    height > 0 &&
    x + width <= image.width + ROUNDING &&
    y + height <= image.height + ROUNDING;
  if (!inside) {
    throw new RangeError(
      `box ${[x, y, width, height].join(', ')} (x, y, width, height) is empty or leaves the ${image.width}x${image.height} image`,
    );
  }
}
