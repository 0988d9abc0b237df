/** Measures the evidence of a pair without a model: registration, lighting fit, nuisance and tamper scores. */
import { type RgbImage, type Size, sameAspectRatio } from '../base/images.js';
import { isSameView, showsTooLittle, type ViewpointEvidence } from './evidence.js';
import { FITTED } from './fitted.js';
import type { Fitted } from './fitted-schema.js';
import { measureGrain } from './grain.js';
import { rescaled } from './homography.js';
import { HALF_TILE, mapDetail } from './lens/detail.js';
import { findLosses } from './lost.js';
import { measure } from './measure.js';
import type { Measurements } from './measurements.js';
import { reductionOf, toWorking, withPlaneMemory } from './planes.js';
import { type Outcome, type Registration, refuse, registerViews } from './registration.js';
import { scoresOf } from './scores.js';
import { tileUp } from './tiles.js';
import { warpFrame } from './warp.js';

/** Whether both frames, of one size, show one view at the same place; false for views without detail. */
export const showsSameView = (before: RgbImage, after: RgbImage, { leastInliers }: Fitted = FITTED): boolean =>
  withPlaneMemory(() => isSameView(registerViews(toWorking(before).luma, toWorking(after).luma, leastInliers)));

/** Pixels per side; in smaller frames corners have too little around them. */
const SMALLEST = 64;

/**
 * Measures a pair. Deterministic; leaves its inputs alone; throws for no content of the frames.
 * @param fitted other thresholds and weights, for fitting
 */
export const examine = (before: RgbImage, after: RgbImage, fitted: Fitted = FITTED): ViewpointEvidence =>
  withPlaneMemory(() => gather(before, after, fitted));

function gather(before: RgbImage, after: RgbImage, fitted: Fitted): ViewpointEvidence {
  const frame = toWorking(before);
  // Frames of different sizes are compared at the size of `before`.
  const other = warpFrame(toWorking(after), null, frame.luma);
  const outcome: Outcome = refuseShape(before, after) ?? registerViews(frame.luma, other.luma, fitted.leastInliers);
  const tiles = tileUp(frame, other, outcome.registration?.homography ?? null);
  const grains = { before: measureGrain(before), after: measureGrain(after) };
  const { measurements, lighting } = measure(outcome.registration, tiles, frame.luma, grains);
  return {
    ...(outcome.registration === null
      ? outcome
      : { ...outcome, registration: ofWholeFrames(outcome.registration, before, after) }),
    lighting,
    measurements,
    nuisances: withConditions(scoresOf(fitted.nuisances, measurements), outcome.registration, measurements),
    tampers: showsTooLittle(outcome) ? NO_TAMPERING : scoresOf(fitted.tampers, measurements),
    lost: findLosses(before, after),
    detail:
      liesOnTiles(outcome) && isOfSize(before, after)
        ? mapDetail({ before: frame.luma, after: other.luma }, tiles)
        : null,
  };
}

/**
 * Log ratio of saturation: a switch between day and night mode changes at least this much; two infrared frames do
 * not.
 */
const LEAST_COLOUR_LOST = Math.log(0.6);

/** Whether what one tile shows is in the same tile of the other frame. */
const liesOnTiles = ({ registration }: Pick<Outcome, 'registration'>): boolean =>
  registration !== null && registration.displacement <= HALF_TILE;
const isOfSize = (a: Size, b: Size): boolean => a.width === b.width && a.height === b.height;

/** Sets scores to 0 if a necessary condition of the class fails, because the regressions extrapolate. */
const withConditions = (
  scores: ViewpointEvidence['nuisances'],
  registration: Registration | null,
  { colour_kept }: Measurements,
): ViewpointEvidence['nuisances'] => ({
  ...scores,
  ...(colour_kept > LEAST_COLOUR_LOST ? { ir_switch: 0 } : {}),
  ...(registration === null ? { camera_moved: 0 } : {}),
});

const NO_TAMPERING: ViewpointEvidence['tampers'] = { blocked: 0, defocused: 0, darkened: 0, turned: 0 };

/**
 * Converts fractions of the working frames, which lack a few pixels at the right and the lower edge, to those of the
 * frames.
 */
function ofWholeFrames(registration: Registration, before: Size, after: Size): Registration {
  const used = (size: Size) => {
    const factor = reductionOf(size);
    const share = (length: number) => (Math.floor(length / factor) * factor) / length;
    return [share(size.width), share(size.height)] as const;
  };
  const homography = rescaled(registration.homography, ...used(before), ...used(after));
  return { ...registration, homography };
}

function refuseShape(before: RgbImage, after: RgbImage): Outcome | null {
  const least = Math.min(before.width, before.height, after.width, after.height);
  if (least < SMALLEST) return refuse('too_small', `a side has ${least} px, expected at least ${SMALLEST} px`);
  if (sameAspectRatio(before, after)) return null;
  return refuse(
    'shape',
    `before has ${before.width}x${before.height} px and after ${after.width}x${after.height} px, ` +
      'expected one aspect ratio',
  );
}
