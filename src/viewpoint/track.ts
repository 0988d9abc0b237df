/** Sub-pixel tracker of patches (Lucas and Kanade 1981, in the inverse form of Baker and Matthews 2004). */
import type { Corners } from './corners.js';
import { type Homography, type Pairs, project } from './homography.js';
import type { Plane } from './planes.js';

const RADIUS = 5;
const SIDE = 2 * RADIUS + 1;
const ITERATIONS = 8;
const CONVERGED = 0.02;
/** Pixels: largest distance of a tracked patch from its start. */
const REACH = 6;
/** Zero-mean correlation of a patch with the found one; below it the found one shows another thing. */
const ALIKE = 0.6;

/**
 * Tracks each corner of `before` in `after`, starting at its position under `motion`.
 * @param reach largest distance from the start, in pixels
 * @returns the corners that converged on a patch that correlates
 */
export function track(before: Plane, after: Plane, corners: Corners, motion: Homography, reach = REACH): Pairs {
  const from: number[] = [];
  const to: number[] = [];
  const patch = new Float64Array(SIDE * SIDE * 3); // value, gradient x, gradient y
  for (let i = 0; i < corners.count; i++) {
    const [x, y] = [corners.at[2 * i] as number, corners.at[2 * i + 1] as number];
    const start = project(motion, x, y);
    const found = follow(before, after, x, y, start.x, start.y, motion, patch);
    if (found === null || Math.hypot(found[0] - start.x, found[1] - start.y) > reach) continue;
    from.push(x, y);
    to.push(found[0], found[1]);
  }
  return { before: Float64Array.from(from), after: Float64Array.from(to), count: from.length / 2 };
}

function follow(
  before: Plane,
  after: Plane,
  x: number,
  y: number,
  startU: number,
  startV: number,
  motion: Homography,
  patch: Float64Array,
): [number, number] | null {
  const { width, height } = before;
  if (x < RADIUS + 1 || y < RADIUS + 1 || x >= width - RADIUS - 1 || y >= height - RADIUS - 1) return null;
  const hessian = template(before, x, y, patch);
  if (hessian === null) return null;
  let [u, v] = [startU, startV];
  // The patch turns and grows with the motion so far, so only a shift remains to be found.
  const [a, b, c, d] = [motion[0], motion[1], motion[3], motion[4]];
  const pixels = after.data;
  const [roomX, roomY] = [RADIUS * (Math.abs(a) + Math.abs(b)), RADIUS * (Math.abs(c) + Math.abs(d))];
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    if (!inside(after, u, v, roomX, roomY)) return null;
    let [sum, sumSquares, dot, ex, ey] = [0, 0, 0, 0, 0];
    for (let dy = -RADIUS, k = 0; dy <= RADIUS; dy++) {
      let px = u - a * RADIUS + b * dy;
      let py = v - c * RADIUS + d * dy;
      for (let dx = -RADIUS; dx <= RADIUS; dx++, k += 3, px += a, py += c) {
        // Bilinear; the coordinates are positive, so that truncation rounds down.
        const x0 = px | 0;
        const y0 = py | 0;
        const [fx, fy] = [px - x0, py - y0];
        const i = y0 * after.width + x0;
        const j = i + after.width;
        const top = (pixels[i] as number) * (1 - fx) + (pixels[i + 1] as number) * fx;
        const value = top * (1 - fy) + ((pixels[j] as number) * (1 - fx) + (pixels[j + 1] as number) * fx) * fy;
        const expected = patch[k] as number;
        const error = value - expected;
        sum += value;
        sumSquares += value * value;
        dot += value * expected;
        ex += (patch[k + 1] as number) * error;
        ey += (patch[k + 2] as number) * error;
      }
    }
    // The steepest-descent sum of a constant is the constant times the sum of the gradients: removes the mean
    // difference.
    const mean = sum / (SIDE * SIDE) - hessian.mean;
    ex -= mean * hessian.sumX;
    ey -= mean * hessian.sumY;
    const stepX = (hessian.yy * ex - hessian.xy * ey) / hessian.determinant;
    const stepY = (hessian.xx * ey - hessian.xy * ex) / hessian.determinant;
    u -= a * stepX + b * stepY;
    v -= c * stepX + d * stepY;
    if (Math.abs(stepX) < CONVERGED && Math.abs(stepY) < CONVERGED) {
      const n = SIDE * SIDE;
      const covariance = dot / n - (sum / n) * hessian.mean;
      const variance = sumSquares / n - (sum / n) ** 2;
      return covariance > ALIKE * Math.sqrt(variance * hessian.variance) ? [u, v] : null;
    }
  }
  return null;
}

interface Template {
  readonly mean: number;
  readonly variance: number;
  readonly xx: number;
  readonly xy: number;
  readonly yy: number;
  readonly sumX: number;
  readonly sumY: number;
  readonly determinant: number;
}

function template({ width, data }: Plane, x: number, y: number, patch: Float64Array): Template | null {
  let [sum, squares, xx, xy, yy, sumX, sumY] = [0, 0, 0, 0, 0, 0, 0];
  for (let dy = -RADIUS, k = 0; dy <= RADIUS; dy++) {
    for (let dx = -RADIUS, i = (y + dy) * width + x - RADIUS; dx <= RADIUS; dx++, i++, k += 3) {
      const value = data[i] as number;
      const gx = ((data[i + 1] as number) - (data[i - 1] as number)) / 2;
      const gy = ((data[i + width] as number) - (data[i - width] as number)) / 2;
      patch[k] = value;
      patch[k + 1] = gx;
      patch[k + 2] = gy;
      sum += value;
      squares += value * value;
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
      sumX += gx;
      sumY += gy;
    }
  }
  const n = SIDE * SIDE;
  const [hxx, hxy, hyy] = [xx - (sumX * sumX) / n, xy - (sumX * sumY) / n, yy - (sumY * sumY) / n];
  const determinant = hxx * hyy - hxy * hxy;
  if (!(determinant > 1e-3)) return null;
  const mean = sum / n;
  return { mean, variance: squares / n - mean * mean, xx: hxx, xy: hxy, yy: hyy, sumX, sumY, determinant };
}

const inside = ({ width, height }: Plane, u: number, v: number, roomX: number, roomY: number): boolean =>
  u >= roomX && v >= roomY && u < width - roomX - 1 && v < height - roomY - 1;
