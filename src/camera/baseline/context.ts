/** Types of the baseline: the "before" of a camera's frame, and the data that is kept for the next frame. */
import type { BlobStore } from '../../base/blobs.js';
import { ScenedeltaError } from '../../base/errors.js';
import type { Box, Size } from '../../base/images.js';
import type { DecodedFrame } from '../../frames/decode.js';
import type { FetchFrame } from '../../frames/fetch.js';
import type { DecodeLimits } from '../../frames/header.js';
import type { StoredFrame } from '../../frames/keep.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { Finding } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { Lost } from '../../schemas/loss.js';
import type { StoredCamera } from '../settings/camera.js';
import type { Light } from '../settings/light.js';
import type { CameraState } from '../state/state.js';
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

export interface ModeContext extends CameraFrameContext {
  readonly size: SizeCheck;
}

/** The results of the frame's comparison and of the change tracker on which the next baseline depends. */
export interface FrameOutcome {
  /** after zones and areas; null if there was nothing to compare with */
  readonly finding: Finding | null;
  /** boxes of all regions, those that zones and areas exclude as well */
  readonly differing: readonly Box[];
  /** Transition.hold */
  readonly hold: boolean;
  /** a track awaits its confirmation */
  readonly pending: boolean;
  /** an open track has missed frames that show its place: its end awaits the confirmation */
  readonly ending: boolean;
  /** boxes of pending and open tracks, whether or not this frame shows them */
  readonly undecided: readonly Box[];
  /** Transition.absorb */
  readonly absorb: readonly { readonly box: Box }[];
}

/** A frame of this light, with its working size. */
export interface BackgroundCandidate extends Size {
  readonly kind: 'background';
  readonly light: Light;
  /** its size is not that of the frames before */
  readonly isStray: boolean;
}

/**
 * The possible part of the frame in the next baseline. keep: none. frame: "before" as a whole, unless a change is
 * undecided. background: "before" of its light, as a whole or blended in. recorded: that of an earlier run.
 */
type BaselineCandidate =
  | { readonly kind: 'keep' }
  | { readonly kind: 'frame' }
  | BackgroundCandidate
  | { readonly kind: 'recorded'; readonly replacedBackground: boolean };

/** The "before" of a frame, found without the change tracker. Plain JSON. */
export interface BaselineEvidence {
  /** `at`: capture time of its content, epoch ms; null if unknown. null: there is nothing to compare with */
  readonly before: { readonly frame: StoredFrameRef; readonly at: number | null } | null;
  readonly candidate: BaselineCandidate;
  readonly size: SizeCheck['state'];
  /** The frame is compared with nothing, and the baseline stays unchanged. */
  readonly skipped: boolean;
  /** why the frame shows no scene; absent: it may show one */
  readonly lost?: Lost['reason'];
  /** The earlier frames were compared with something else, so the tracked changes cannot be followed any more. */
  readonly reset: boolean;
  readonly notes: readonly CameraNote[];
}

/** The baseline by one mode of `before`, with the bytes that a comparison and a blend read. */
export interface ModeBaseline extends Pick<BaselineEvidence, 'candidate' | 'notes'> {
  /** null: there is nothing to compare with */
  readonly frame: StoredFrame | null;
  /** capture time of its content, epoch ms; null if unknown */
  readonly at: number | null;
  /** the camera's frame, at working size; null: this mode does not read its pixels */
  readonly pixels: DecodedFrame | null;
}

/** @returns null if the retention of the frame is over */
export async function fetchIfStored(
  ref: StoredFrameRef,
  { signal }: Pick<CameraFrameContext, 'signal'>,
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
