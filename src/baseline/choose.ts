/** The "before" of a camera's frame by the camera's setting. */
import { decodeFrame, frameSize } from '../frames/decode.js';
import { isCut } from '../frames/lost-rows.js';
import { isCard } from '../viewpoint/lost.js';
import { backgroundBaseline } from './background-baseline.js';
import type { BaselineDependencies, BaselineEvidence, CameraFrameContext, ModeBaseline } from './context.js';
import { frameBaseline } from './frame-baseline.js';
import { checkSize } from './frame-size.js';
import { isSwitched } from './next.js';

/** Only complete pictures of a scene can be a new view of the camera. */
const NO_VIEW = {
  code: 'size_changed',
  detail: 'the aspect ratio differs, and the picture shows no scene: it does not count as a new view',
} as const;

type Baseline = ModeBaseline & Omit<BaselineEvidence, 'before'>;

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, storage-unavailable */
export async function chooseBaseline(context: CameraFrameContext, deps: BaselineDependencies): Promise<Baseline> {
  const { camera, frame, state } = context;
  const size = checkSize(state, await frameSize(frame.bytes, { ...deps.decodeLimits, field: 'after' }));
  // A chosen reference is never passed over silently: the comparison with it fails and names both sizes.
  const isChosen = camera.settings.before === 'reference' && camera.reference !== null;
  if (size.otherShape && !isChosen) {
    const nothing = {
      frame: null,
      at: null,
      pixels: null,
      candidate: { kind: 'keep' },
      reset: false,
      skipped: true,
    } as const;
    const pixels = await decodeFrame(frame.bytes, { ...deps.decodeLimits, field: 'after' });
    if (isCut(pixels) || isCard(pixels)) {
      const lost = isCut(pixels) ? 'picture_damaged' : 'signal_lost';
      const { size: known, otherSize } = state;
      const kept = { size: known, ...(otherSize === undefined ? {} : { otherSize }) };
      return { ...nothing, notes: [NO_VIEW], size: kept, lost };
    }
    if (size.status === 'stray') return { ...nothing, notes: size.notes, size: size.state };
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
