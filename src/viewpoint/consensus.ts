/** RANSAC of a similarity between matched corners, with the MSAC cost (Torr and Zisserman 2000). */
import { uniformNumbers } from '../base/random.js';
import { fitSimilarity, type Homography, type Pairs } from './homography.js';

const SAMPLES = 400;
/** Pixels. Corners of two frames are located to about one pixel; tracking refines them later. */
const TOLERANCE = 2;
/** Pixels between two corners; closer corners do not determine a rotation. */
const LEAST_APART = 10;
/** Beyond these limits a fixed camera shows another view. */
const PLAUSIBLE = { scale: 1.5, degrees: 25 } as const;

interface Consensus {
  readonly motion: Homography;
  readonly inliers: number;
}

/**
 * The similarity with the lowest cost over all pairs. Two pairs determine one, so few samples suffice even if most
 * pairs are wrong; the refinement adds keystone.
 * @returns null if no plausible similarity has three inliers
 */
export function agree(pairs: Pairs): Consensus | null {
  const random = uniformNumbers(1);
  const weights = new Float64Array(pairs.count);
  let best: Homography | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES && pairs.count >= 3; sample++) {
    const i = Math.floor(random() * pairs.count);
    const j = Math.floor(random() * pairs.count);
    if (i === j) continue;
    const motion = throughTwo(pairs, i, j);
    if (motion === null || !isPlausible(motion)) continue;
    const cost = msac(pairs, motion, bestCost);
    if (cost < bestCost) [best, bestCost] = [motion, cost];
  }
  if (best === null) return null;
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < pairs.count; i++) weights[i] = distanceSquared(pairs, i, best) < TOLERANCE ** 2 ? 1 : 0;
    const better = fitSimilarity(pairs, weights);
    if (better === null || !isPlausible(better)) break;
    best = better;
  }
  const found: Homography = best;
  let inliers = 0;
  for (let i = 0; i < pairs.count; i++) if (distanceSquared(pairs, i, found) < TOLERANCE ** 2) inliers++;
  return inliers >= 3 ? { motion: found, inliers } : null;
}

export function isPlausible(h: Homography): boolean {
  const scale = Math.hypot(h[0], h[3]);
  const degrees = (Math.abs(Math.atan2(h[3], h[0])) * 180) / Math.PI;
  return scale < PLAUSIBLE.scale && scale > 1 / PLAUSIBLE.scale && degrees < PLAUSIBLE.degrees;
}

function throughTwo({ before, after }: Pairs, i: number, j: number): Homography | null {
  const at = (values: Float64Array, k: number) => values[k] as number;
  const [x, y] = [at(before, 2 * j) - at(before, 2 * i), at(before, 2 * j + 1) - at(before, 2 * i + 1)];
  const [u, v] = [at(after, 2 * j) - at(after, 2 * i), at(after, 2 * j + 1) - at(after, 2 * i + 1)];
  const length = x * x + y * y;
  if (length < LEAST_APART ** 2) return null;
  const [c, s] = [(x * u + y * v) / length, (x * v - y * u) / length];
  const [px, py] = [at(before, 2 * i), at(before, 2 * i + 1)];
  return [c, -s, at(after, 2 * i) - c * px + s * py, s, c, at(after, 2 * i + 1) - s * px - c * py, 0, 0, 1];
}

/** Sum of squared distances, each limited to the squared tolerance; stops when it exceeds `most`. */
function msac(pairs: Pairs, h: Homography, most: number): number {
  let cost = 0;
  for (let i = 0; i < pairs.count && cost < most; i++) cost += Math.min(TOLERANCE ** 2, distanceSquared(pairs, i, h));
  return cost;
}

/** The error of pair i under an affine map, which needs no division. */
function distanceSquared({ before, after }: Pairs, i: number, h: Homography): number {
  const [x, y] = [before[2 * i] as number, before[2 * i + 1] as number];
  const du = h[0] * x + h[1] * y + h[2] - (after[2 * i] as number);
  const dv = h[3] * x + h[4] * y + h[5] - (after[2 * i + 1] as number);
  return du * du + dv * dv;
}
