/** The viewpoint evidence of a pair, without a model: registration, lighting fit, nuisance and tamper scores. */
import { type RgbImage, type Side, type Size, sameAspectRatio } from '../base/images.js';
import { FITTED } from './fitted.js';
import type { Bounds, Fitted } from './fitted-schema.js';
import { measureGrain } from './grain.js';
import { rescaled } from './homography.js';
import { type DetailMap, HALF_CELL, mapDetail } from './lens/cover.js';
import { findLosses, type LostView } from './lost.js';
import { measure } from './measure.js';
import type { Measurements } from './measurements.js';
import type { LightingFit } from './photometric.js';
import { reductionOf, toWorking, withPlaneMemory } from './planes.js';
import { LEAST_CORNERS, type Outcome, type Registration, refuse, registerViews } from './registration.js';
import { jointScore, type NuisanceName, scoresOf, TAMPERS, type TamperName } from './scores.js';
import { tileUp } from './tiles.js';
import { warpFrame } from './warp.js';

export type ViewpointEvidence = Outcome & {
  readonly lighting: LightingFit;
  readonly measurements: Measurements;
  /** 0..1, each class by itself; all tamper scores are 0 if `before` shows too little to judge */
  readonly nuisances: Readonly<Record<NuisanceName, number>>;
  readonly tampers: Readonly<Record<TamperName, number>>;
  /** parts of each frame that the camera or the decoder lost; null: none that can be seen */
  readonly lost: Readonly<Record<Side, LostView | null>>;
  /** where `after` lacks detail; null: the frames do not show one view at the same place */
  readonly detail: DetailMap | null;
};

/** Whether `camera_moved` is named; smaller motions come from the sensor and the coder. */
export const hasMoved = ({ nuisances }: ViewpointEvidence, fitted: Fitted = FITTED): boolean =>
  nuisances.camera_moved >= fitted.nuisances.camera_moved.threshold;

/** The tampering that the evidence alone names, the highest score first; empty if there is none. */
export const namedTampers = (evidence: ViewpointEvidence, fitted: Fitted = FITTED): Named[] =>
  highestFirst(evidence, fitted.tampers, (name) => evidence.tampers[name]);

/**
 * The tampering that the evidence and the features of a backbone name together. A covered lens and a turned camera
 * show another place, which features show better than pixels; a large new thing or another coding leaves most
 * features as they were.
 * @param margin agreement of the features of both frames minus the bundle's `least_agreement`
 */
export const joinedTampers = (evidence: ViewpointEvidence, margin: number, { joint }: Fitted = FITTED): Named[] =>
  highestFirst(evidence, joint, (name) =>
    margin <= joint[name].mostAgreement ? jointScore(joint[name], evidence.tampers[name], margin) : 0,
  );

type Named = { readonly name: TamperName; readonly score: number };

function highestFirst(
  evidence: ViewpointEvidence,
  bounds: Readonly<Record<TamperName, Bounds>>,
  scoreOf: (name: TamperName) => number,
): Named[] {
  if (showsTooLittle(evidence)) return [];
  const bound = isBare(evidence.measurements) ? 'bareThreshold' : 'threshold';
  return TAMPERS.map((name) => ({ name, score: scoreOf(name) }))
    .filter(({ name, score }) => score >= bounds[name][bound])
    .sort((a, b) => b.score - a.score);
}

/** Least score of a turned camera: of frames of other cameras 99 % have more (`npm run bench -- views`). */
const OTHER_VIEW = 0.9;
/** Whether both frames show a scene, and nothing of one scene is in the other: the camera was turned, or exchanged. */
export const showsOtherView = ({ refusal, tampers }: ViewpointEvidence): boolean =>
  refusal?.reason === 'no_common_view' && tampers.turned >= OTHER_VIEW;

/** Share of the tiles of `before` with detail. In a place with less (bare asphalt) one car is most of the detail. */
const LEAST_DETAILED = 0.25;
export const isBare = ({ detailed }: Measurements): boolean => detailed < LEAST_DETAILED;

/** Whether `before` has too few corners to judge tampering. */
export const showsTooLittle = ({ corners }: Pick<ViewpointEvidence, 'corners'>): boolean => corners < LEAST_CORNERS;

/** Share of the frame's width: a view that was stretched and not cut lies where it was. */
const MOST_DISPLACED = 0.05;
/** Whether both frames, of one size, show one view at the same place. */
export const isSameView = ({ registration }: Pick<Outcome, 'registration'>): boolean =>
  registration !== null && registration.displacement <= MOST_DISPLACED;

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
    detail: liesOnCells(outcome) && isOfSize(before, after) ? mapDetail({ before, after }) : null,
  };
}

/**
 * Log ratio of saturation: a switch between day and night mode changes at least this much; two infrared frames do
 * not.
 */
const LEAST_COLOUR_LOST = Math.log(0.6);

/** Whether what one cell of the map of detail shows is in the same cell of the other frame. */
const liesOnCells = ({ registration }: Pick<Outcome, 'registration'>): boolean =>
  registration !== null && registration.displacement <= HALF_CELL;
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
