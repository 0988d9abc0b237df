/**
 * The baseline after a frame, from the evidence of the frame and the outcome of the change tracker: live frames, quiet
 * ones, recordings and dry runs decide it here. Pure.
 */
import { type Box, type Size, sameAspectRatio } from '../../base/images.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { type BackgroundModel, chooseUpdate } from '../settings/background-model.js';
import type { StoredCamera } from '../settings/camera.js';
import type { Light } from '../settings/light.js';
import type { CameraState } from '../state/state.js';
import type { BackgroundCandidate, BaselineEvidence, FrameOutcome } from './context.js';

/** The part of the camera's state that the baseline owns. */
type BaselineState = Pick<
  CameraState,
  'before' | 'light' | 'lightFrames' | 'backgrounds' | 'size' | 'otherSize' | 'against'
>;

/** Boxes of the frame that a background leaves out, and that it copies at once. */
export interface BackgroundBlend {
  readonly light: Light;
  readonly protect: readonly Box[];
  readonly absorb: readonly Box[];
}

export interface NextBaseline {
  readonly state: BaselineState;
  /** part of the frame in it; a quiet frame, which is not stored, must have none */
  readonly takes: 'nothing' | 'frame' | 'blend';
  /** the frame as a whole has become the background of its light */
  readonly replacedBackground: boolean;
  /** to be stored (storeBlend); until then the state names the background as it was. null: there is none */
  readonly blend: BackgroundBlend | null;
}

/** The backgrounds with the camera's mask and the frame's aspect ratio. */
export const usableBackgrounds = (
  model: BackgroundModel<StoredFrameRef>,
  mask: string | null,
  size: Size,
): BackgroundModel<StoredFrameRef> =>
  Object.fromEntries(
    Object.entries(model).filter(
      ([, background]) => background.frame.mask === (mask ?? undefined) && sameAspectRatio(background, size),
    ),
  );

/** Names the setting that the frames are compared by; another name means another baseline. */
export const sourceOf = ({ settings: { before }, reference }: StoredCamera): string =>
  before === 'reference' && reference !== null ? `${before} ${reference.sha256}` : before;

/** Whether the frames before this one were compared by another setting. */
export const isSwitched = (camera: StoredCamera, { against }: Pick<CameraState, 'against'>): boolean =>
  against !== undefined && against !== sourceOf(camera);

/** @returns the stored frame of the camera's setting: that of another one is neither the previous nor the chosen one */
export const keptBefore = (
  camera: StoredCamera,
  state: Pick<CameraState, 'before' | 'against'>,
): CameraState['before'] => (isSwitched(camera, state) ? null : state.before);

const NOTHING = { takes: 'nothing', replacedBackground: false, blend: null } as const;

interface FrameOfOutcome {
  /** reference of the frame; null: it is quiet and not stored */
  readonly frame: StoredFrameRef | null;
  /** capture time, epoch ms */
  readonly at: number;
  readonly outcome: FrameOutcome;
}

export function nextBaseline(
  camera: StoredCamera,
  state: CameraState,
  evidence: Pick<BaselineEvidence, 'before' | 'candidate' | 'size' | 'skipped'>,
  of: FrameOfOutcome,
): NextBaseline {
  const { candidate, size, skipped } = evidence;
  const { before, light, lightFrames, backgrounds, against } = state;
  if (skipped) {
    return {
      ...NOTHING,
      state: { before, light, lightFrames, backgrounds, ...size, ...(against === undefined ? {} : { against }) },
    };
  }
  const kept = {
    before: keptBefore(camera, state),
    light,
    lightFrames,
    backgrounds,
    ...size,
    against: sourceOf(camera),
  };
  switch (candidate.kind) {
    case 'keep':
      return { ...NOTHING, state: kept };
    case 'recorded':
      return { ...NOTHING, replacedBackground: candidate.replacedBackground, state: kept };
    case 'frame': {
      if (of.outcome.hold) return { ...NOTHING, state: kept };
      const moved = of.frame === null ? kept : { ...kept, before: { frame: of.frame, at: of.at } };
      return { ...NOTHING, takes: 'frame', state: moved };
    }
    case 'background': {
      const frames = candidate.light === light ? lightFrames + 1 : 1;
      const usable = usableBackgrounds(backgrounds, camera.mask, candidate);
      const next = { ...kept, light: candidate.light, lightFrames: frames, backgrounds: usable };
      return nextBackground(next, candidate, evidence.before?.frame ?? null, of);
    }
  }
}

/** @param before the background that the frame was compared with; null: there was none */
function nextBackground(
  state: BaselineState,
  { light, width, height, isStray }: BackgroundCandidate,
  before: StoredFrameRef | null,
  { frame, at, outcome }: FrameOfOutcome,
): NextBaseline {
  const { backgrounds, lightFrames } = state;
  const present = before === null ? undefined : backgrounds[light];
  const update = chooseUpdate(present, { ...outcome, at, width, height, isStray, lightFrames });
  if (update === 'keep') return { ...NOTHING, state };
  const isReplaced = update === 'replace';
  const takes = isReplaced ? 'frame' : 'blend';
  const pixels = isReplaced ? frame : before;
  if (pixels === null) return { ...NOTHING, takes, state };
  const background = { width, height, learnedAt: at, frame: pixels };
  const { differing, undecided, absorb } = outcome;
  const blend = { light, protect: [...differing, ...undecided], absorb: absorb.map(({ box }) => box) };
  return {
    state: { ...state, backgrounds: { ...backgrounds, [light]: background } },
    takes,
    replacedBackground: isReplaced,
    blend: isReplaced ? null : blend,
  };
}

/** @returns the state with the stored pixels of a blended background */
export function withBlend(state: CameraState, { light }: BackgroundBlend, frame: StoredFrameRef): CameraState {
  const background = state.backgrounds[light];
  return background === undefined
    ? state
    : { ...state, backgrounds: { ...state.backgrounds, [light]: { ...background, frame } } };
}
