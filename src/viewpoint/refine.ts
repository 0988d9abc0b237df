/** From tracked points to one motion of the camera: robust least squares, with no more freedom than the points support. */

import type { Size } from '../images.js';
import { isPlausible } from './consensus.js';
import { fitHomography, fitSimilarity, type Homography, type Pairs, project } from './homography.js';

export interface Refined {
  readonly motion: Homography;
  readonly inliers: number;
  /** root mean square of the inliers' distances, pixels */
  readonly residual: number;
  /** share of a COLUMNS x ROWS grid over the frame that holds an inlier */
  readonly spread: number;
}

/** Pixels: a tracked point further off belongs to something that moved by itself. */
export const INLIER_DISTANCE = 1;
const ROUNDS = 10;
const [COLUMNS, ROWS] = [6, 4];
/** Keystone is believed where it makes the residual at most this share of a similarity's, and the points lie all over the frame. */
const BETTER = 0.8;
const SPREAD_FOR_KEYSTONE = 0.5;
const INLIERS_FOR_KEYSTONE = 24;
/** Pixels: what tracking itself misses by. A similarity that leaves no more needs no further freedom. */
const EXACT = 0.1;

/** @param start whose nearest points begin the fit. @returns null where the points determine no plausible motion */
export function refine(pairs: Pairs, start: Homography, size: Size): Refined | null {
  const similar = settle(pairs, start, size, fitSimilarity);
  if (similar === null || !isPlausible(similar.motion)) return null;
  if (similar.spread < SPREAD_FOR_KEYSTONE || similar.inliers < INLIERS_FOR_KEYSTONE) return similar;
  if (similar.residual < EXACT) return similar;
  const keystone = settle(pairs, similar.motion, size, (p, w) => fitHomography(p, w, size));
  if (keystone === null || !isPlausible(keystone.motion)) return similar;
  const better = keystone.residual < BETTER * similar.residual || keystone.inliers * BETTER > similar.inliers;
  return better && keystone.inliers >= similar.inliers ? keystone : similar;
}

/** Iteratively reweighted least squares with Tukey's biweight; its width shrinks from what tracking may miss to the inlier distance. */
function settle(
  pairs: Pairs,
  start: Homography,
  size: Size,
  estimate: (pairs: Pairs, weights: Float64Array) => Homography | null,
): Refined | null {
  const weights = new Float64Array(pairs.count);
  let motion = start;
  for (let round = 0; round < ROUNDS; round++) {
    const width = Math.max(2 * INLIER_DISTANCE, 6 * 0.7 ** round);
    for (let i = 0; i < pairs.count; i++) {
      const share = distance(pairs, i, motion) / width;
      weights[i] = share < 1 ? (1 - share * share) ** 2 : 0;
    }
    const next = estimate(pairs, weights);
    if (next === null) return null;
    motion = next;
  }
  return inliersOf(pairs, motion, size);
}

function inliersOf(pairs: Pairs, motion: Homography, size: Size): Refined {
  let [inliers, squares] = [0, 0];
  const cells = new Set<number>();
  for (let i = 0; i < pairs.count; i++) {
    const d = distance(pairs, i, motion);
    if (d > INLIER_DISTANCE) continue;
    inliers++;
    squares += d * d;
    const column = Math.floor(((pairs.before[2 * i] as number) / size.width) * COLUMNS);
    const row = Math.floor(((pairs.before[2 * i + 1] as number) / size.height) * ROWS);
    cells.add(row * COLUMNS + column);
  }
  const residual = inliers === 0 ? 0 : Math.sqrt(squares / inliers);
  return { motion, inliers, residual, spread: cells.size / (COLUMNS * ROWS) };
}

function distance(pairs: Pairs, i: number, motion: Homography): number {
  const { x, y } = project(motion, pairs.before[2 * i] as number, pairs.before[2 * i + 1] as number);
  return Math.hypot(x - (pairs.after[2 * i] as number), y - (pairs.after[2 * i + 1] as number));
}
