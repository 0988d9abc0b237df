/** Baseline of a camera's frame: the "before" by the camera's setting, and what is kept for the next frame. */
import type { CameraState, StoredCamera } from '../stores/cameras.js';
import { backgroundBaseline } from './background-baseline.js';
import type {
  BaselineDependencies,
  CameraFrameContext,
  FrameOutcome,
  KeptBaseline,
  ModeBaseline,
} from './context.js';
import { frameBaseline } from './frame-baseline.js';

export interface Baseline extends Omit<ModeBaseline, 'keep'> {
  /** The earlier frames were compared with something else, so the tracked changes cannot be followed any more. */
  readonly reset: boolean;
  keep(outcome: FrameOutcome): Promise<KeptBaseline & { readonly state: Pick<CameraState, 'against'> }>;
}

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, storage-unavailable */
export async function chooseBaseline(
  context: CameraFrameContext,
  deps: BaselineDependencies,
): Promise<Baseline> {
  const against = sourceOf(context.camera);
  const switched = context.state.against !== undefined && context.state.against !== against;
  // The anchor of another setting is neither the previous frame nor the chosen reference.
  const state = switched ? { ...context.state, anchor: null } : context.state;
  const choose = context.camera.settings.before === 'memory' ? backgroundBaseline : frameBaseline;
  const chosen = await choose({ ...context, state }, deps);
  return {
    ...chosen,
    reset: switched || chosen.frame === null,
    async keep(outcome) {
      const kept = await chosen.keep(outcome);
      return { ...kept, state: { ...kept.state, against } };
    },
  };
}

/** Names the setting that the frames are compared by; another name means another baseline. */
const sourceOf = ({ settings: { before }, reference }: StoredCamera): string =>
  before === 'reference' && reference !== null ? `${before} ${reference.sha256}` : before;
