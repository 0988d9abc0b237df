/** Did the camera move, or did the scene change? Everything that can be said of a pair without a model. */
import { type RgbImage, type Size, sameAspectRatio } from '../images.js';
import { FITTED } from './fitted.js';
import { measureGrain } from './grain.js';
import { rescaled } from './homography.js';
import { measure } from './measure.js';
import type { Measurements } from './measurements.js';
import type { LightingFit } from './photometric.js';
import { reductionOf, toWorking } from './planes.js';
import { LEAST_CORNERS, type Outcome, type Registration, refuse, registerViews } from './registration.js';
import {
  type Bounds,
  type Fitted,
  jointScore,
  type NuisanceName,
  scoresOf,
  TAMPERS,
  type TamperName,
} from './scores.js';
import { tileUp } from './tiles.js';
import { warpFrame } from './warp.js';

export type ViewpointEvidence = Outcome & {
  readonly lighting: LightingFit;
  readonly measurements: Measurements;
  /** 0..1, for each class alone; no tampering can be told where `before` shows too little, and all are 0 then */
  readonly nuisances: Readonly<Record<NuisanceName, number>>;
  readonly tampers: Readonly<Record<TamperName, number>>;
};

/** `camera_moved` is named; what moves less is the sensor's and the coder's doing. */
export const hasMoved = ({ nuisances }: ViewpointEvidence, fitted: Fitted = FITTED): boolean =>
  nuisances.camera_moved >= fitted.nuisances.camera_moved.threshold;

/** The tampering that the evidence names by itself, the surest first; empty where there is none. */
export const namedTampers = (evidence: ViewpointEvidence, fitted: Fitted = FITTED): Named[] =>
  surestFirst(evidence, fitted.tampers, (name) => evidence.tampers[name]);

/**
 * The same where a backbone has looked too. A covered lens and a turned camera show another place, which features tell better than
 * pixels do; a large thing that came, or another coding of the picture, leaves most of them as they were.
 * @param margin agreement of both frames' features less the least of two frames of one place
 */
export const joinedTampers = (
  evidence: ViewpointEvidence,
  margin: number,
  { joint }: Fitted = FITTED,
): Named[] =>
  surestFirst(evidence, joint, (name) =>
    margin <= joint[name].mostAgreement ? jointScore(joint[name], evidence.tampers[name], margin) : 0,
  );

type Named = { readonly name: TamperName; readonly score: number };

function surestFirst(
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

/** Share of the tiles of `before`; of a place that shows less (bare asphalt) one car is most of what there is to see. */
const LEAST_DETAILED = 0.25;
export const isBare = ({ detailed }: Measurements): boolean => detailed < LEAST_DETAILED;

/** Of `before`, where nobody can say what was there. */
export const showsTooLittle = ({ corners }: Pick<ViewpointEvidence, 'corners'>): boolean =>
  corners < LEAST_CORNERS;

/** Pixels a side, below which corners have no surroundings to know them by. */
const SMALLEST = 64;

/**
 * Deterministic; leaves its inputs alone; never throws for what the pictures show.
 * @param fitted thresholds and weights, other ones for fitting
 */
export function examine(before: RgbImage, after: RgbImage, fitted: Fitted = FITTED): ViewpointEvidence {
  const frame = toWorking(before);
  const other = warpFrame(toWorking(after), null, frame.luma); // frames of other sizes meet at before's
  const outcome: Outcome =
    refuseShape(before, after) ?? registerViews(frame.luma, other.luma, fitted.leastInliers);
  const tiles = tileUp(frame, other, outcome.registration?.homography ?? null);
  const grains = { before: measureGrain(before), after: measureGrain(after) };
  const { measurements, lighting } = measure(outcome.registration, tiles, frame.luma, grains);
  return {
    ...(outcome.registration === null
      ? outcome
      : { ...outcome, registration: ofWholeFrames(outcome.registration, before, after) }),
    lighting,
    measurements,
    nuisances: possible(scoresOf(fitted.nuisances, measurements), outcome.registration, measurements),
    tampers: showsTooLittle(outcome) ? NO_TAMPERING : scoresOf(fitted.tampers, measurements),
  };
}

/** A switch between day and night mode takes or gives at least this share of the colour (log): two frames by infrared are none. */
const LEAST_COLOUR_LOST = Math.log(0.6);

/** Without what the classes cannot be without; their regressions have not met every pair of frames there is. */
const possible = (
  scores: ViewpointEvidence['nuisances'],
  registration: Registration | null,
  { colour_kept }: Measurements,
): ViewpointEvidence['nuisances'] => ({
  ...scores,
  ...(colour_kept > LEAST_COLOUR_LOST ? { ir_switch: 0 } : {}),
  ...(registration === null ? { camera_moved: 0 } : {}),
});

const NO_TAMPERING: ViewpointEvidence['tampers'] = { blocked: 0, defocused: 0, darkened: 0, turned: 0 };
/** Working frames leave out up to a few pixels at the right and the lower edge: fractions of them become fractions of all. */
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
  if (least < SMALLEST)
    return refuse('too_small', `a side has ${least} px, expected at least ${SMALLEST} px`);
  if (sameAspectRatio(before, after)) return null;
  return refuse(
    'shape',
    `before has ${before.width}x${before.height} px and after ${after.width}x${after.height} px, expected one aspect ratio`,
  );
}
