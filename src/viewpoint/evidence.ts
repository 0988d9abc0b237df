/** The viewpoint evidence of a pair, and what it names: read where no pixel is measured. */
import type { Side } from '../base/images.js';
import { FITTED } from './fitted.js';
import type { Bounds, Fitted } from './fitted-schema.js';
import type { DetailMap } from './lens/detail.js';
import type { LostView } from './lost.js';
import { LEAST_CORNERS, type Measurements } from './measurements.js';
import type { LightingFit } from './photometric.js';
import type { Outcome } from './registration.js';
import { jointScore, type NuisanceName, TAMPERS, type TamperName } from './scores.js';

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
