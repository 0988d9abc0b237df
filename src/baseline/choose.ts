/** Baseline of a camera's frame: the "before" by the camera's setting, and what is kept for the next frame. */
import { frameSize } from '../frames/decode.js';
import type { CameraState, StoredCamera } from '../stores/cameras.js';
import { backgroundBaseline } from './background-baseline.js';
import type { BaselineDependencies, BaselineState, CameraFrameContext, FrameOutcome, ModeBaseline } from './context.js';
import { frameBaseline } from './frame-baseline.js';
import { checkSize, type SizeCheck } from './frame-size.js';

export interface Baseline extends Omit<ModeBaseline, 'keep'> {
  /** The earlier frames were compared with something else, so the tracked changes cannot be followed any more. */
  readonly reset: boolean;
  /** The frame is compared with nothing, and the baseline stays as it is. */
  readonly skipped: boolean;
  keep(outcome: FrameOutcome): Promise<{
    readonly state: BaselineState & Pick<CameraState, 'size' | 'otherSize' | 'against'>;
    readonly replacedBackground: boolean;
  }>;
}

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, storage-unavailable */
export async function chooseBaseline(context: CameraFrameContext, deps: BaselineDependencies): Promise<Baseline> {
  const { camera, frame } = context;
  const size = checkSize(context.state, await frameSize(frame.bytes, { ...deps.decodeLimits, field: 'after' }));
  // A chosen reference is never passed over silently: the comparison with it fails and names both sizes.
  const isChosen = camera.settings.before === 'reference' && camera.reference !== null;
  if (size.status === 'stray' && size.otherShape && !isChosen) return skip(context.state, size);

  const against = sourceOf(camera);
  const switched = context.state.against !== undefined && context.state.against !== against;
  // The anchor of another setting is neither the previous frame nor the chosen reference.
  const state = switched ? { ...context.state, anchor: null } : context.state;
  const choose = camera.settings.before === 'memory' ? backgroundBaseline : frameBaseline;
  const chosen = await choose({ ...context, state, size }, deps);
  return {
    ...chosen,
    notes: [...size.notes, ...chosen.notes],
    reset: switched || chosen.frame === null,
    skipped: false,
    async keep(outcome) {
      const kept = await chosen.keep(outcome);
      return { ...kept, state: { ...kept.state, ...size.state, against } };
    },
  };
}

/** @returns no frame to compare with, and a state that differs only in the count of such frames */
function skip({ anchor, light, lightFrames, memory, against }: CameraState, size: SizeCheck): Baseline {
  const state = {
    anchor,
    light,
    memory,
    ...size.state,
    ...(lightFrames === undefined ? {} : { lightFrames }),
    ...(against === undefined ? {} : { against }),
  };
  return {
    frame: null,
    at: null,
    notes: size.notes,
    reset: false,
    skipped: true,
    keep: async () => ({ state, replacedBackground: false }),
  };
}

/** Names the setting that the frames are compared by; another name means another baseline. */
export const sourceOf = ({ settings: { before }, reference }: StoredCamera): string =>
  before === 'reference' && reference !== null ? `${before} ${reference.sha256}` : before;
