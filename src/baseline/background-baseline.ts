/** Baseline of the mode `memory`: the background of the frame's light, from the camera's background model. */
import {
  type Background,
  type BackgroundModel,
  blend,
  chooseUpdate,
  nearestBackground,
} from '../cameras/background-model.js';
import { lightOf, measureLight } from '../cameras/light.js';
import { decodeFrame } from '../frames/decode.js';
import { type StoredFrame, storeFrame } from '../frames/keep.js';
import sharp from '../frames/sharp.js';
import { type RgbImage, type Side, type Size, sameAspectRatio } from '../images.js';
import type { CameraNote } from '../schemas/camera-frame.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import {
  type BaselineDependencies,
  type CameraFrameContext,
  type FrameOutcome,
  fetchIfStored,
  type ModeBaseline,
  type ModeContext,
} from './context.js';

type StoredModel = BackgroundModel<StoredFrameRef>;

export async function backgroundBaseline(context: ModeContext, deps: BaselineDependencies): Promise<ModeBaseline> {
  const { camera, state, frame, at, size } = context;
  const pixels = await decode(frame.bytes, 'after', deps);
  const { width, height } = pixels;
  const light = lightOf(measureLight(pixels), state.light);
  const lightFrames = light === state.light ? (state.lightFrames ?? 0) + 1 : 1;
  const model = usableBackgrounds(state.memory, camera.mask, pixels);
  const nearest = nearestBackground(model, light);
  const before = nearest === null ? null : await fetchIfStored(nearest.background.frame, context, deps);
  const own = nearest?.light === light && before !== null ? nearest.background : undefined;

  const notes: CameraNote[] = [];
  if (Object.keys(model).length < Object.keys(state.memory).length && !size.otherShape) {
    notes.push(note('mask_changed', 'the privacy zones have changed, so the background model starts again'));
  }
  if (nearest === null) notes.push(note('first_frame', `this frame starts the background of ${light}`));
  else if (before === null) {
    notes.push(note('before_lost', `the background of ${nearest.light} is no longer stored`));
  } else if (nearest.light !== light) {
    const borrowed = `compared with that of ${nearest.light}`;
    notes.push(note('other_light', `there is no background of ${light} yet, ${borrowed}`));
  }

  return {
    frame: before,
    at: nearest === null || before === null ? null : nearest.background.learnedAt,
    notes,
    async keep(outcome) {
      const kept = (memory: StoredModel) => ({ anchor: state.anchor, light, lightFrames, memory });
      const isStray = size.status === 'stray';
      const update = chooseUpdate(own, { ...outcome, at, width, height, isStray, lightFrames });
      if (update === 'keep') return { state: kept(model), replacedBackground: false };
      const replaced = update === 'replace' || before === null;
      const { ref } = replaced ? frame : await storeBlend(before, pixels, outcome, context, deps);
      const background: Background<StoredFrameRef> = { width, height, learnedAt: at, frame: ref };
      return { state: kept({ ...model, [light]: background }), replacedBackground: replaced };
    },
  };
}

/** The backgrounds with the camera's mask and the frame's aspect ratio. */
export const usableBackgrounds = (model: StoredModel, mask: string | null, size: Size): StoredModel =>
  Object.fromEntries(
    Object.entries(model).filter(
      ([, background]) => background.frame.mask === (mask ?? undefined) && sameAspectRatio(background, size),
    ),
  );

async function storeBlend(
  before: StoredFrame,
  pixels: RgbImage,
  { differing, undecided, absorb }: FrameOutcome,
  { camera }: CameraFrameContext,
  deps: BaselineDependencies,
): Promise<StoredFrame> {
  const background = await decode(before.bytes, 'before', deps);
  const { data, width, height } = blend(background, pixels, {
    protect: [...differing, ...undecided],
    absorb: absorb.map(({ box }) => box),
  });
  // Lossless, because a lossy coding would be larger than the steps of `blend`.
  const png = sharp(data, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 3 });
  const frame = { bytes: await png.toBuffer(), contentType: 'image/png', mask: camera.mask ?? undefined };
  return storeFrame(deps.blobs, frame);
}

const decode = (bytes: Uint8Array, side: Side, { decodeLimits }: BaselineDependencies) =>
  decodeFrame(bytes, { ...decodeLimits, field: side });

const note = (code: CameraNote['code'], detail: string): CameraNote => ({ code, detail });
