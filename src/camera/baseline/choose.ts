/** The "before" of a camera's frame by the camera's setting. */
import { decodeFrame } from '../../frames/decode.js';
import { frameSize } from '../../frames/header.js';
import { assertComplete, isCut } from '../../frames/lost-rows.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import { backgroundBaseline } from './background-baseline.js';
import {
  type BaselineDependencies,
  type BaselineEvidence,
  type CameraFrameContext,
  fetchIfStored,
  type ModeBaseline,
  type ModeContext,
} from './context.js';
import { checkSize } from './frame-size.js';
import { isSwitched, keptBefore } from './next.js';

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
    // Loaded with the first frame of another shape: else threads look for lost parts.
    const { isCard } = await import('../../viewpoint/lost.js');
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

async function frameBaseline(context: ModeContext, deps: BaselineDependencies): Promise<ModeBaseline> {
  const { camera, state, frame, size } = context;
  const isReference = camera.settings.before === 'reference';
  const kept = keptBefore(camera, state);
  const start = async (...notes: CameraNote[]): Promise<ModeBaseline> => {
    // Nothing else decodes this frame, and with a damaged one every later comparison would fail.
    assertComplete(await decodeFrame(frame.bytes, { ...deps.decodeLimits, field: 'after' }), 'after');
    return { frame: null, at: null, notes, candidate: { kind: 'frame' }, pixels: null };
  };

  const chosen = isReference ? camera.reference : null;
  const ref = chosen ?? kept?.frame;
  if (ref === undefined) {
    return start({
      code: 'first_frame',
      detail: isReference ? 'this frame is the reference from now on' : 'no earlier frame is stored',
    });
  }
  // A chosen reference is never replaced silently: with another mask or shape the comparison fails.
  if (chosen === null && ref.mask !== (camera.mask ?? undefined)) {
    return start({
      code: 'mask_changed',
      detail: 'the privacy zones have changed, so this frame starts a new baseline',
    });
  }
  if (chosen === null && size.otherShape) return start();
  const before = await fetchIfStored(ref, context, deps);
  if (before === null) {
    return start({
      code: 'before_lost',
      detail: 'the frame to compare with is no longer stored, so this frame starts a new baseline',
    });
  }
  return {
    frame: before,
    at: chosen === null ? (kept?.at ?? null) : null,
    notes: [],
    candidate: isReference ? { kind: 'keep' } : { kind: 'frame' },
    pixels: null,
  };
}
