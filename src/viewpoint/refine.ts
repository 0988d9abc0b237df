/**
 * Robust least-squares fit of the camera motion to tracked points, with no more degrees of freedom than they
 * determine.
 */
import type { Size } from '../base/images.js';
import { isPlausible } from './consensus.js';
import { fitHomography, fitSimilarity, type Homography, type Pairs, project } from './homography.js';

export interface Refined {
  readonly motion: Homography;
  readonly inliers: number;
  /** root mean square distance of the inliers, pixels */
  readonly residual: number;
  /** share of the cells of a COLUMNS x ROWS grid over the frame that contain an inlier */
  readonly spread: number;
}

/** Pixels: a tracked point further away belongs to a thing that moved by itself. */
const INLIER_DISTANCE = 1;
const ROUNDS = 10;
const [COLUMNS, ROWS] = [6, 4];
/** Keystone is accepted if it reduces the residual of the similarity to this share, and the points cover the frame. */
const BETTER = 0.8;
const SPREAD_FOR_KEYSTONE = 0.5;
const INLIERS_FOR_KEYSTONE = 24;
/** Pixels: the error of tracking. A similarity with a smaller residual needs no further degrees of freedom. */
const EXACT = 0.1;

/**
 * @param start the fit begins with the points closest to it.
 * @returns null if the points determine no plausible motion
 */
export function refine(pairs: Pairs, start: Homography, size: Size): Refined | null {
  const similar = reweighted(pairs, start, size, fitSimilarity);
  if (similar === null || !isPlausible(similar.motion)) return null;
  if (similar.spread < SPREAD_FOR_KEYSTONE || similar.inliers < INLIERS_FOR_KEYSTONE) return similar;
  if (similar.residual < EXACT) return similar;
  const keystone = reweighted(pairs, similar.motion, size, (p, w) => fitHomography(p, w, size));
  if (keystone === null || !isPlausible(keystone.motion)) return similar;
  const better = keystone.residual < BETTER * similar.residual || keystone.inliers * BETTER > similar.inliers;
  return better && keystone.inliers >= similar.inliers ? keystone : similar;
}

/**
 * Iteratively reweighted least squares with Tukey's biweight, whose width shrinks from 6 pixels to twice the inlier
 * distance.
 */
function reweighted(
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
