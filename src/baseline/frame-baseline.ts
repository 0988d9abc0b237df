/** "Before" of the modes `previous` and `reference`: one stored frame, or the chosen reference. */
import { decodeFrame } from '../frames/decode.js';
import { assertComplete } from '../frames/lost-rows.js';
import type { CameraNote } from '../schemas/camera-frame.js';
import { type BaselineDependencies, fetchIfStored, type ModeBaseline, type ModeContext } from './context.js';
import { keptBefore } from './next.js';

export async function frameBaseline(context: ModeContext, deps: BaselineDependencies): Promise<ModeBaseline> {
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
