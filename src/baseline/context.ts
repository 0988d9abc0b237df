/** Types of the baseline: the "before" of a camera's frame, and the data that is kept for the next frame. */
import { ScenedeltaError } from '../errors.js';
import type { DecodeLimits } from '../frames/decode.js';
import type { FetchFrame } from '../frames/fetch.js';
import type { StoredFrame } from '../frames/keep.js';
import type { Box } from '../images.js';
import type { CameraNote } from '../schemas/camera-frame.js';
import type { Finding } from '../schemas/comparison.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import type { BlobStore } from '../stores/blobs.js';
import type { CameraState, StoredCamera } from '../stores/cameras.js';
import type { SizeCheck } from './frame-size.js';

export interface BaselineDependencies {
  readonly blobs: BlobStore;
  readonly fetchFrame: FetchFrame;
  readonly decodeLimits: DecodeLimits;
}

export interface CameraFrameContext {
  readonly camera: StoredCamera;
  readonly state: CameraState;
  readonly frame: StoredFrame;
  /** capture time, epoch ms */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** Input of a mode of `before`. */
export interface ModeContext extends CameraFrameContext {
  readonly size: SizeCheck;
}

/** Result of the frame's comparison and of the change tracker, as far as the next baseline depends on it. */
export interface FrameOutcome {
  /** after zones and areas; null if there was nothing to compare with */
  readonly finding: Finding | null;
  /** boxes of all regions, those that zones and areas exclude as well */
  readonly differing: readonly Box[];
  /** Transition.hold */
  readonly hold: boolean;
  /** a track awaits its confirmation */
  readonly pending: boolean;
  /** boxes of pending and open tracks, whether or not this frame shows them */
  readonly undecided: readonly Box[];
  /** Transition.absorb */
  readonly absorb: readonly { readonly box: Box }[];
}

/** The part of the camera's state that the baseline owns. */
export type BaselineState = Pick<CameraState, 'anchor' | 'light' | 'lightFrames' | 'memory'>;

interface KeptBaseline {
  readonly state: BaselineState;
  /** the frame as a whole has become the background of its light */
  readonly replacedBackground: boolean;
}

/** The baseline by one mode of `before`. */
export interface ModeBaseline {
  /** null: there is nothing to compare with */
  readonly frame: StoredFrame | null;
  /** capture time of its content, epoch ms; null if unknown */
  readonly at: number | null;
  readonly notes: readonly CameraNote[];
  /** Stores what the next frame is compared with. To be called once per frame. */
  keep(outcome: FrameOutcome): Promise<KeptBaseline>;
}

/** @returns null if the retention of the frame is over */
export async function fetchIfStored(
  ref: StoredFrameRef,
  { signal }: CameraFrameContext,
  deps: BaselineDependencies,
): Promise<StoredFrame | null> {
  try {
    // The caller uses only frames that carry the camera's mask already.
    return await deps.fetchFrame(ref, { field: 'before', signal, mask: null });
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError && thrown.code === 'gone') return null;
    throw thrown;
  }
}
