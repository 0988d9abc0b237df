/** Baseline of the modes `previous` and `reference`: one stored frame (the anchor), or the chosen reference. */
import { frameSize } from '../frames/decode.js';
import { sameAspectRatio } from '../images.js';
import type { CameraNote } from '../schemas/comparison.js';
import {
  type BaselineDependencies,
  type BaselineState,
  type CameraFrameContext,
  fetchIfStored,
  type ModeBaseline,
  sizeNotes,
} from './context.js';

export async function frameBaseline(
  context: CameraFrameContext,
  deps: BaselineDependencies,
): Promise<ModeBaseline> {
  const { camera, state, frame, at } = context;
  const isReference = camera.settings.before === 'reference';
  const size = await frameSize(frame.bytes, { field: 'after', pixelLimit: deps.pixelLimit });
  const { anchor, light, memory } = state;
  const keepAnchor: BaselineState = { anchor, light, memory, size };
  const moveAnchor: BaselineState = { ...keepAnchor, anchor: { frame: frame.ref, at } };
  const kept = (next: BaselineState) => ({ state: next, replacedBackground: false });
  const start = (code: CameraNote['code'], detail: string): ModeBaseline => ({
    frame: null,
    at: null,
    notes: [{ code, detail }],
    keep: async () => kept(moveAnchor),
  });

  const chosen = isReference ? camera.reference : null;
  const ref = chosen ?? anchor?.frame;
  if (ref === undefined) {
    return isReference
      ? start('first_frame', 'this frame is the reference from now on')
      : start('first_frame', 'no earlier frame is stored');
  }
  const notes = sizeNotes(state.size, size);
  // A chosen reference is never replaced silently: with another mask or shape the comparison fails.
  if (chosen === null && ref.mask !== (camera.mask ?? undefined)) {
    return start('mask_changed', 'the privacy zones have changed, so this frame starts a new baseline');
  }
  const [sizeNote] = notes;
  if (chosen === null && sizeNote !== undefined && !sameAspectRatio(state.size ?? size, size)) {
    return start(sizeNote.code, sizeNote.detail);
  }
  const before = await fetchIfStored(ref, context, deps);
  if (before === null) {
    return start(
      'before_lost',
      'the frame to compare with is no longer stored, so this frame starts a new baseline',
    );
  }
  return {
    frame: before,
    at: chosen === null ? (anchor?.at ?? null) : null,
    notes,
    keep: async ({ hold }) => kept(isReference || hold ? keepAnchor : moveAnchor),
  };
}
