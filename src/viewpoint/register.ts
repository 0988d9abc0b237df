/** Where the camera looked in `after`, compared with `before`; or why that cannot be said. */
import type { Side } from '../images.js';
import { agree } from './consensus.js';
import { type Corners, describe, findCorners, matchDescriptions } from './corners.js';
import { type Homography, IDENTITY, invert, moveOrigin, project, rescaled } from './homography.js';
import { halved, type Plane, type Size } from './planes.js';
import { type Refined, refine } from './refine.js';
import { track } from './track.js';

export interface Registration {
  /** takes a point of `before` to `after`, both as fractions of their frame (0..1) */
  readonly homography: Homography;
  /** how far the middle of the frame went, as a fraction of the frame's width */
  readonly shift: number;
  /** greatest displacement of the frame's corners and middle, as a fraction of the frame's width */
  readonly displacement: number;
  /** clockwise */
  readonly rotationDegrees: number;
  /** above 1: things are larger in `after` */
  readonly scale: number;
  /** share of `before`'s frame that `after` still shows */
  readonly overlap: number;
  /** corners that went with the motion */
  readonly inliers: number;
  /** of the corners looked for */
  readonly corners: number;
  /** root mean square distance of the inliers from the motion, as a fraction of the frame's width */
  readonly residual: number;
}

export const REFUSALS = [
  'too_small',
  'shape',
  'before_featureless',
  'after_featureless',
  'no_common_view',
] as const;
export type RefusalReason = (typeof REFUSALS)[number];
export interface Refusal {
  readonly reason: RefusalReason;
  /** what came and what was expected */
  readonly detail: string;
}

export type Outcome = (
  | { readonly registration: Registration; readonly refusal: null }
  | { readonly registration: null; readonly refusal: Refusal }
) & {
  /** of `before`: how much there is to tell a view by; 0 where nobody looked */
  readonly corners: number;
};

export const refuse = (reason: RefusalReason, detail: string, corners = 0): Outcome => ({
  registration: null,
  refusal: { reason, detail },
  corners,
});

/** Fewer corners than this say nothing reliable about four numbers and more. */
export const LEAST_CORNERS = 16;

/**
 * @param before, after structure planes (planes.ts) of one size
 * @param leastInliers fewer agreeing corners are what two unrelated views also reach (fitted.ts)
 */
export function register(before: Plane, after: Plane, leastInliers: number): Outcome {
  const corners = findCorners(before);
  if (corners.count < LEAST_CORNERS)
    return refuse('before_featureless', tooFew('before', corners.count), corners.count);
  const still = fromIdentity(before, after, corners);
  if (still !== null && still.inliers >= Math.max(leastInliers, corners.count / 2))
    return accept(still, corners.count, before);

  const others = findCorners(after);
  if (others.count < LEAST_CORNERS)
    return refuse('after_featureless', tooFew('after', others.count), corners.count);
  const moved = fromMatches(before, after, corners, others);
  const best = moved !== null && moved.inliers > (still?.inliers ?? 0) ? moved : still;
  if (best === null || best.inliers < leastInliers) {
    return refuse(
      'no_common_view',
      `${best?.inliers ?? 0} of ${corners.count} corners of before agree on where they are in after, expected at least ${leastInliers}`,
      corners.count,
    );
  }
  return accept(best, corners.count, before);
}

const tooFew = (side: Side, count: number): string =>
  `${side} has ${count} corners, expected at least ${LEAST_CORNERS}`;

/** As if the camera had hardly moved: corners are followed from where they were, first at half the size. */
function fromIdentity(before: Plane, after: Plane, corners: Corners): Refined | null {
  const half = { at: corners.at.map((value) => Math.round((value - 0.5) / 2)), count: corners.count };
  const rough = track(halved(before), halved(after), half, IDENTITY);
  const coarse = refine(rough, IDENTITY, { width: before.width / 2, height: before.height / 2 });
  const start = coarse === null ? null : doubled(coarse.motion);
  return followed(before, after, corners, start ?? IDENTITY);
}

/** Pixel (x, y) at half size covers (2x, 2y) to (2x + 1, 2y + 1): its centre is at 2x + 0.5. */
function doubled(h: Homography): Homography | null {
  return moveOrigin(rescaled(h, 2, 2, 2, 2), 0.5, 0.5);
}

/** As if the camera could look anywhere near: corners of both frames are paired by what is around them. */
function fromMatches(before: Plane, after: Plane, corners: Corners, others: Corners): Refined | null {
  const matches = matchDescriptions(describe(before, corners), describe(after, others));
  const count = matches.length / 2;
  const pairs = { before: new Float64Array(2 * count), after: new Float64Array(2 * count), count };
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 2; k++) {
      pairs.before[2 * i + k] = corners.at[2 * (matches[2 * i] as number) + k] as number;
      pairs.after[2 * i + k] = others.at[2 * (matches[2 * i + 1] as number) + k] as number;
    }
  }
  const consensus = agree(pairs);
  return consensus === null ? null : followed(before, after, corners, consensus.motion);
}

/** Twice: the second time the patches turn and grow with the motion that the first found. */
function followed(before: Plane, after: Plane, corners: Corners, start: Homography): Refined | null {
  const first = refine(track(before, after, corners, start), start, before);
  if (first === null) return null;
  return refine(track(before, after, corners, first.motion, 3), first.motion, before) ?? first;
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
  const { motion } = refined;
  return {
    registration: {
      homography,
      shift: moved(0.5, 0.5),
      displacement: Math.max(moved(0.5, 0.5), moved(0, 0), moved(1, 0), moved(0, 1), moved(1, 1)),
      rotationDegrees: (Math.atan2(motion[3] - motion[1], motion[0] + motion[4]) * 180) / Math.PI,
      scale: Math.sqrt(Math.abs(motion[0] * motion[4] - motion[1] * motion[3])),
      overlap: overlapOf(homography),
      inliers: refined.inliers,
      corners,
      residual: refined.residual / size.width,
    },
    refusal: null,
    corners,
  };
}

/** Working pixels have their centres at whole numbers, fractions of a frame have them at halves. */
function toFractions(motion: Homography, { width, height }: Size): Homography | null {
  const centred = moveOrigin(motion, 0.5, 0.5);
  return centred === null ? null : rescaled(centred, 1 / width, 1 / height, 1 / width, 1 / height);
}

const GRID = 20;
/** By counting: which of GRID x GRID cells' centres are still inside the frame. */
function overlapOf(h: Homography): number {
  let inside = 0;
  for (let i = 0; i < GRID * GRID; i++) {
    const { x, y } = project(h, ((i % GRID) + 0.5) / GRID, (Math.floor(i / GRID) + 0.5) / GRID);
    if (x >= 0 && x <= 1 && y >= 0 && y <= 1) inside++;
  }
  return inside / GRID ** 2;
}
