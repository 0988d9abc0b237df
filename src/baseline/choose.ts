/** The "before" of a camera's frame by the camera's setting. */
import { frameSize } from '../frames/decode.js';
import { backgroundBaseline } from './background-baseline.js';
import type { BaselineDependencies, BaselineEvidence, CameraFrameContext, ModeBaseline } from './context.js';
import { frameBaseline } from './frame-baseline.js';
import { checkSize } from './frame-size.js';
import { isSwitched } from './next.js';

type Baseline = ModeBaseline & Omit<BaselineEvidence, 'before'>;

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, storage-unavailable */
export async function chooseBaseline(context: CameraFrameContext, deps: BaselineDependencies): Promise<Baseline> {
  const { camera, frame, state } = context;
  const size = checkSize(state, await frameSize(frame.bytes, { ...deps.decodeLimits, field: 'after' }));
  // A chosen reference is never passed over silently: the comparison with it fails and names both sizes.
  const isChosen = camera.settings.before === 'reference' && camera.reference !== null;
  if (size.status === 'stray' && size.otherShape && !isChosen) {
    const nothing = { frame: null, at: null, pixels: null, candidate: { kind: 'keep' } } as const;
    return { ...nothing, notes: size.notes, size: size.state, reset: false, skipped: true };
  }
  const choose = camera.settings.before === 'memory' ? backgroundBaseline : frameBaseline;
  const chosen = await choose({ ...context, size }, deps);
  return {
    ...chosen,
    notes: [...size.notes, ...chosen.notes],
    size: size.state,
    reset: isSwitched(camera, state) || chosen.frame === null,
    skipped: false,
  };
}
