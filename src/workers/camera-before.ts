/** What a camera's frame is compared with, by its setting, and what is kept for the next one. */

import {
  type Background,
  type BackgroundModel,
  type BackgroundUpdate,
  chooseUpdate,
  learn,
  nearestBackground,
} from '../cameras/background-model.js';
import { lightOf, measureLight } from '../cameras/light.js';
import { ScenedeltaError } from '../errors.js';
import { decodeFrame, frameSize } from '../frames/decode.js';
import { type FetchFrame, type Frame, storeFrame } from '../frames/fetch.js';
import sharp from '../frames/sharp.js';
import type { Box } from '../images.js';
import type { StoredFrameRef } from '../jobs/payloads.js';
import type { CameraNote, Finding } from '../schemas/comparison.js';
import type { BlobStore } from '../stores/blobs.js';
import type { CameraState, StoredCamera } from '../stores/cameras.js';

export interface BeforeDependencies {
  readonly blobs: BlobStore;
  readonly fetchFrame: FetchFrame;
  readonly pixelLimit: number;
}

export interface CameraFrameContext {
  readonly camera: StoredCamera;
  readonly state: CameraState;
  readonly frame: Frame;
  /** captured time, epoch ms */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** What has become of the frame, as far as it matters for what is kept. */
export interface FrameOutcome {
  /** of what counts; null where there was nothing to compare with */
  readonly finding: Finding | null;
  /** boxes in which anything differed, also what does not count */
  readonly differing: readonly Box[];
  /** Transition.hold */
  readonly hold: boolean;
  /** something awaits its confirmation */
  readonly pending: boolean;
  /** boxes of what awaits its confirmation, or has neither gone nor settled, seen in this frame or not */
  readonly undecided: readonly Box[];
  /** Transition.absorb */
  readonly absorb: readonly { readonly box: Box }[];
}

type Kept = Pick<CameraState, 'anchor' | 'light' | 'memory' | 'size' | 'against'>;

export interface Before {
  /** null: there is nothing to compare with */
  readonly frame: Frame | null;
  /** captured time of what it shows, epoch ms; null where it is not known */
  readonly at: number | null;
  readonly notes: readonly CameraNote[];
  /** It is not what the frames up to this one were compared with, nor has it come from that: what they showed is not known against it. */
  readonly anew: boolean;
  /** To be called once. @returns what of the state is another one afterwards. */
  keep(upshot: FrameOutcome): Promise<Kept>;
}

type Chosen = Omit<Before, 'anew'>;

const note = (code: CameraNote['code'], detail: string): CameraNote => ({ code, detail });

/** @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, storage-unavailable */
export async function chooseBefore(taken: CameraFrameContext, deps: BeforeDependencies): Promise<Before> {
  const against = againstOf(taken.camera);
  const switched = taken.state.against !== undefined && taken.state.against !== against;
  // The frame that another setting has left behind is neither the one before this nor a reference that anybody chose.
  const state = switched ? { ...taken.state, anchor: null } : taken.state;
  const choose = taken.camera.settings.before === 'memory' ? fromMemory : fromFrame;
  const before = await choose({ ...taken, state }, deps);
  return {
    ...before,
    anew: switched || before.frame === null,
    keep: async (upshot) => ({ ...(await before.keep(upshot)), against }),
  };
}

const againstOf = ({ settings: { before }, reference }: StoredCamera): string =>
  before === 'reference' && reference !== null ? `${before} ${reference.sha256}` : before;

/** The frame before, or a fixed one. */
async function fromFrame(taken: CameraFrameContext, deps: BeforeDependencies): Promise<Chosen> {
  const { camera, state, frame, at } = taken;
  const fixed = camera.settings.before === 'reference';
  const { width, height } = await frameSize(frame.bytes, { side: 'after', pixelLimit: deps.pixelLimit });
  const size = { width, height };
  const begin: Kept = { ...keptOf(state), anchor: { frame: frame.ref, at }, size };
  const startWith = (why: CameraNote): Chosen => ({
    frame: null,
    at: null,
    notes: [why],
    keep: async () => begin,
  });

  const given = fixed ? camera.reference : null;
  const anchor = given === null ? state.anchor : null;
  const ref = given ?? anchor?.frame;
  if (ref === undefined) {
    return startWith(
      note(
        'first_frame',
        fixed ? 'this frame is the reference from now on' : 'no frame is kept from before this one',
      ),
    );
  }
  const notes = sizeNotes(state.size, size);
  // A reference that somebody chose is not replaced in silence: the comparison fails and says why.
  if (given === null && ref.mask !== (camera.mask ?? undefined)) {
    return startWith(note('mask_changed', 'the privacy zones have changed, so this frame begins anew'));
  }
  if (given === null && state.size !== null && !sameShape(state.size, size)) {
    return startWith(notes[0] as CameraNote);
  }
  const before = await stillThere(ref, taken, deps);
  if (before === null) {
    return startWith(
      note('before_lost', 'the frame to compare with is no longer stored, so this frame begins anew'),
    );
  }
  return {
    frame: before,
    at: anchor?.at ?? null,
    notes,
    keep: async ({ hold }) => (fixed || hold ? { ...keptOf(state), size } : begin),
  };
}

/** How the place normally looks in this light. */
async function fromMemory(taken: CameraFrameContext, deps: BeforeDependencies): Promise<Chosen> {
  const { camera, state, frame, at } = taken;
  const pixels = await decodeFrame(frame.bytes, {
    side: 'after',
    pixelLimit: deps.pixelLimit,
    allocate: (bytes) => new Uint8Array(bytes),
  });
  const { width, height, sourceWidth, sourceHeight } = pixels;
  const size = { width: sourceWidth, height: sourceHeight };
  const light = lightOf(measureLight(pixels), state.light);
  const notes = [...sizeNotes(state.size, size)];
  const usable = ([, background]: [string, Background<StoredFrameRef>]) =>
    background.frame.mask === (camera.mask ?? undefined) && sameShape(background, pixels);
  const memory: BackgroundModel<StoredFrameRef> = Object.fromEntries(
    Object.entries(state.memory).filter(usable),
  );
  if (Object.keys(memory).length < Object.keys(state.memory).length && notes.length === 0) {
    notes.push(note('mask_changed', 'the privacy zones have changed, so the memory begins anew'));
  }

  const found = nearestBackground(memory, light);
  const before = found === null ? null : await stillThere(found.background.frame, taken, deps);
  if (found === null) notes.push(note('first_frame', `this frame begins the memory for ${light}`));
  else if (before === null)
    notes.push(note('before_lost', `the memory for ${found.light} is no longer stored`));
  else if (found.light !== light) {
    notes.push(
      note('other_light', `there is no memory for ${light} yet, compared with that for ${found.light}`),
    );
  }
  const own = found?.light === light && before !== null ? found.background : undefined;

  const keep = async (upshot: FrameOutcome): Promise<Kept> => {
    const { anchor } = state;
    const lesson = lessonOf(own, upshot, { at, width, height });
    if (lesson === 'keep') return { anchor, light, memory, size };
    const background = { width, height, learnedAt: at };
    if (lesson === 'start' || before === null) {
      return { anchor, light, memory: { ...memory, [light]: { ...background, frame: frame.ref } }, size };
    }
    const old = await decodeFrame(before.bytes, {
      side: 'before',
      pixelLimit: deps.pixelLimit,
      allocate: (bytes) => new Uint8Array(bytes),
    });
    const absorb = upshot.absorb.map(({ box }) => box);
    const learned = learn(old, pixels, { protect: [...upshot.differing, ...upshot.undecided], absorb });
    // Without loss: steps this small would not survive another coding.
    const bytes = await sharp(learned.data, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: 3 })
      .toBuffer();
    const { ref } = await storeFrame(deps.blobs, bytes, 'image/png', camera.mask ?? undefined);
    return { anchor, light, memory: { ...memory, [light]: { ...background, frame: ref } }, size };
  };
  return {
    frame: before,
    at: found !== null && before !== null ? found.background.learnedAt : null,
    notes,
    keep,
  };
}

/** Without anything to compare with, the frame is all that is known of the place. */
function lessonOf(
  own: Background<StoredFrameRef> | undefined,
  { finding, pending, absorb }: FrameOutcome,
  frame: { at: number; width: number; height: number },
): BackgroundUpdate {
  return finding === null ? 'start' : chooseUpdate(own, { finding, pending, absorb, ...frame });
}

const keptOf = ({ anchor, light, memory, size }: CameraState): Kept => ({ anchor, light, memory, size });

interface Size {
  readonly width: number;
  readonly height: number;
}

/** As the pipeline asks of a pair. */
const SHAPE_TOLERANCE = 0.02;
const sameShape = (a: Size, b: Size): boolean =>
  Math.abs(a.width / a.height / (b.width / b.height) - 1) <= SHAPE_TOLERANCE;

function sizeNotes(before: Size | null, now: Size): CameraNote[] {
  if (before === null || (before.width === now.width && before.height === now.height)) return [];
  const what = `the frames had ${before.width}x${before.height} px and have ${now.width}x${now.height} px now`;
  return [
    note('size_changed', sameShape(before, now) ? what : `${what}: another shape, so this frame begins anew`),
  ];
}

/** @returns null where its retention is over. */
async function stillThere(
  ref: StoredFrameRef,
  taken: CameraFrameContext,
  deps: BeforeDependencies,
): Promise<Frame | null> {
  try {
    // its mask is the camera's already, or it is not used
    return await deps.fetchFrame(ref, { field: 'before', signal: taken.signal, mask: null });
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError && thrown.code === 'gone') return null;
    throw thrown;
  }
}
