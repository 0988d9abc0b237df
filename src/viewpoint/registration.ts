/** Registration: the motion of the camera from `before` to `after`, or the reason why it cannot be measured. */
import type { Side, Size } from '../base/images.js';
import { agree } from './consensus.js';
import { type Corners, describe, findCorners, matchDescriptions } from './corners.js';
import { type Homography, IDENTITY, invert, jacobian, moveOrigin, project, rescaled } from './homography.js';
import { LEAST_CORNERS } from './measurements.js';
import { halved, type Plane, structureOf } from './planes.js';
import { type Refined, refine } from './refine.js';
import { track } from './track.js';

export interface Registration {
  /** takes a point of `before` to `after`, both as fractions of their frame (0..1) */
  readonly homography: Homography;
  /** how far the middle of the frame went, as a fraction of the frame's width */
  readonly shift: number;
  /** greatest displacement of the frame's corners and middle, as a fraction of the frame's width */
  readonly displacement: number;
  /** clockwise, in the middle of the frame: keystone turns its corners too */
  readonly rotationDegrees: number;
  /** in the middle of the frame; above 1: things are larger in `after` */
  readonly scale: number;
  /** share of `before`'s frame that `after` still shows */
  readonly overlap: number;
  /** corners that moved with the motion */
  readonly inliers: number;
  /** corners of `before` */
  readonly corners: number;
  /** root mean square distance of the inliers from the motion, as a fraction of the frame's width */
  readonly residual: number;
}

type RefusalReason = 'too_small' | 'shape' | 'before_featureless' | 'after_featureless' | 'no_common_view';
interface Refusal {
  readonly reason: RefusalReason;
  /** the measured value and the expected one */
  readonly detail: string;
}

export type Outcome = (
  | { readonly registration: Registration; readonly refusal: null }
  | { readonly registration: null; readonly refusal: Refusal }
) & {
  /** corners found in `before`; 0 if the frames were refused before corners were searched */
  readonly corners: number;
};

export const refuse = (reason: RefusalReason, detail: string, corners = 0): Outcome => ({
  registration: null,
  refusal: { reason, detail },
  corners,
});

/**
 * Registers at half the working size, where tracking measures a motion to a tenth of a pixel. README.md has the errors.
 * @param before, after lumas of one working size
 * @param leastInliers unrelated views reach fewer agreeing corners than this (fitted.json)
 */
export function registerViews(before: Plane, after: Plane, leastInliers: number): Outcome {
  const structures = { before: structureOf(halved(before)), after: structureOf(halved(after)) };
  const corners = findCorners(structures.before);
  if (corners.count < LEAST_CORNERS)
    return refuse('before_featureless', tooFew('before', corners.count), corners.count);
  const still = follow(structures, corners, IDENTITY);
  if (still !== null && still.inliers >= Math.max(leastInliers, corners.count / 2))
    return accept(still, corners.count, structures.before);

  const others = findCorners(structures.after);
  if (others.count < LEAST_CORNERS) return refuse('after_featureless', tooFew('after', others.count), corners.count);
  const start = fromMatches(structures, corners, others);
  const moved = start === null ? null : follow(structures, corners, start);
  const best = moved !== null && moved.inliers > (still?.inliers ?? 0) ? moved : still;
  if (best === null || best.inliers < leastInliers) {
    return refuse(
      'no_common_view',
      `${best?.inliers ?? 0} of ${corners.count} corners of before agree on where they are in after, ` +
        `expected at least ${leastInliers}`,
      corners.count,
    );
  }
  return accept(best, corners.count, structures.before);
}

const tooFew = (side: Side, count: number): string =>
  `${side} has ${count} corners, expected at least ${LEAST_CORNERS}`;

type Structures = Readonly<Record<Side, Plane>>;

/**
 * Tracks the corners from `start`, and once more from the result if it is far away: patches turn and grow with the
 * start.
 */
function follow({ before, after }: Structures, corners: Corners, start: Homography): Refined | null {
  const first = refine(track(before, after, corners, start), start, before);
  if (first === null || farthest(first.motion, start, before) < CLOSE) return first;
  return refine(track(before, after, corners, first.motion), first.motion, before) ?? first;
}

/** Pixels: a second tracking gains nothing if the first started closer. */
const CLOSE = 1;

/** Pixels: greatest distance between the positions to which two motions map the corners of the frame. */
function farthest(a: Homography, b: Homography, { width, height }: Size): number {
  const apart = (x: number, y: number) => {
    const [p, q] = [project(a, x, y), project(b, x, y)];
    return Math.hypot(p.x - q.x, p.y - q.y);
  };
  return Math.max(apart(0, 0), apart(width, 0), apart(0, height), apart(width, height));
}

/** The motion from matched descriptors, for a camera that moved far. */
function fromMatches({ before, after }: Structures, corners: Corners, others: Corners): Homography | null {
  const matches = matchDescriptions(describe(before, corners), describe(after, others));
  const count = matches.length / 2;
  const pairs = { before: new Float64Array(2 * count), after: new Float64Array(2 * count), count };
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 2; k++) {
      pairs.before[2 * i + k] = corners.at[2 * (matches[2 * i] as number) + k] as number;
      pairs.after[2 * i + k] = others.at[2 * (matches[2 * i + 1] as number) + k] as number;
    }
  }
  return agree(pairs)?.motion ?? null;
}

function accept(refined: Refined, corners: number, size: Size): Outcome {
  const homography = toFractions(refined.motion, size);
  if (homography === null || invert(homography) === null)
    return refuse('no_common_view', 'the motion that most corners agree on folds the frame', corners);
  const aspect = size.height / size.width;
  const moved = (x: number, y: number) => {
    const p = project(homography, x, y);
    return Math.hypot(p.x - x, (p.y - y) * aspect);
  };
  const [a, b, c, d] = jacobian(refined.motion, (size.width - 1) / 2, (size.height - 1) / 2);
  return {
    registration: {
      homography,
      shift: moved(0.5, 0.5),
      displacement: Math.max(moved(0.5, 0.5), moved(0, 0), moved(1, 0), moved(0, 1), moved(1, 1)),
      rotationDegrees: (Math.atan2(c - b, a + d) * 180) / Math.PI,
      scale: Math.sqrt(Math.abs(a * d - b * c)),
      overlap: overlapOf(homography),
      inliers: refined.inliers,
      corners,
      residual: refined.residual / size.width,
    },
    refusal: null,
    corners,
  };
}

/** Pixel centres are at whole numbers here, and at halves in fractions of the frame. */
function toFractions(motion: Homography, { width, height }: Size): Homography | null {
  const centred = moveOrigin(motion, 0.5, 0.5);
  return centred === null ? null : rescaled(centred, 1 / width, 1 / height, 1 / width, 1 / height);
}

const GRID = 20;
/** The share of the centres of GRID x GRID cells that stay inside the frame. */
function overlapOf(h: Homography): number {
  let inside = 0;
  for (let i = 0; i < GRID * GRID; i++) {
    const { x, y } = project(h, ((i % GRID) + 0.5) / GRID, (Math.floor(i / GRID) + 0.5) / GRID);
    if (x >= 0 && x <= 1 && y >= 0 && y <= 1) inside++;
  }
  return inside / GRID ** 2;
}
