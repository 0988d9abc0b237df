/**
 * The baseline of a frame that equals the last examined one, from the state alone: neither the frame nor its "before"
 * is decoded. A frame at which the baseline would change has none, so it is examined.
 */
import { chooseUpdate } from '../cameras/background-model.js';
import type { Size } from '../images.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import type { CameraState, StoredCamera } from '../stores/cameras.js';
import { usableBackgrounds } from './background-baseline.js';
import { sourceOf } from './choose.js';
import type { BaselineState, FrameOutcome } from './context.js';
import { checkSize } from './frame-size.js';

interface StandingBaseline {
  readonly frame: StoredFrameRef;
  /** capture time of its content, epoch ms; null if unknown */
  readonly at: number | null;
  /** @returns null if the frame would change the baseline */
  keep(outcome: FrameOutcome): BaselineState | null;
}

/**
 * @param frame.size upright size of the encoded frame
 * @param frame.at capture time, epoch ms
 * @returns null if the frame itself is needed to choose its "before"
 */
export function standingBaseline(
  camera: StoredCamera,
  state: CameraState,
  frame: { readonly size: Size; readonly at: number },
): StandingBaseline | null {
  if (state.against !== sourceOf(camera) || checkSize(state, frame.size).status !== 'known') return null;
  return camera.settings.before === 'memory' ? standingBackground(camera, state, frame) : standingFrame(camera, state);
}

function standingFrame({ settings, reference, mask }: StoredCamera, state: CameraState): StandingBaseline | null {
  const { anchor, light, memory, examined } = state;
  const isReference = settings.before === 'reference';
  const chosen = isReference ? reference : null;
  const ref = chosen ?? anchor?.frame;
  if (ref === undefined || ref.mask !== (mask ?? undefined)) return null;
  // The examined frame stays the previous one: the frames that equal it show nothing else, and a slow drift adds up.
  const isExamined = ref.sha256 === examined?.frame.sha256;
  return {
    frame: ref,
    at: chosen === null ? (anchor?.at ?? null) : null,
    keep: ({ hold }) => (isReference || hold || isExamined ? { anchor, light, memory } : null),
  };
}

function standingBackground(
  { mask }: StoredCamera,
  { anchor, light, lightFrames, memory }: CameraState,
  { size, at }: { readonly size: Size; readonly at: number },
): StandingBaseline | null {
  const background = light === null ? undefined : usableBackgrounds(memory, mask, size)[light];
  if (background === undefined) return null;
  const frames = (lightFrames ?? 0) + 1;
  const { width, height } = background;
  return {
    frame: background.frame,
    at: background.learnedAt,
    keep(outcome) {
      const context = { ...outcome, at, width, height, isStray: false, lightFrames: frames };
      return chooseUpdate(background, context) === 'keep' ? { anchor, light, lightFrames: frames, memory } : null;
    },
  };
}
