/** Frames of a camera that its state refers to. Their field names are the stored format. */
import type { Finding } from '../schemas/comparison.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';

/** A processed frame. */
export interface FrameDone {
  /** capture time, epoch ms */
  readonly at: number;
  readonly sha256: string;
  readonly comparison: string;
}

/** The last frame that the pipeline compared, and its answer, which frames that equal it get as well. */
export interface ExaminedFrame {
  readonly comparison: string;
  readonly frame: StoredFrameRef;
  /** capture time, epoch ms */
  readonly at: number;
  /** `updated_at` of the camera whose settings applied */
  readonly settings: string;
  /** sha256 of "before"; null: there was none */
  readonly before: string | null;
  /** after zones and areas; null: there was nothing to compare with */
  readonly finding: Finding | null;
  /** regions that zones and areas excluded */
  readonly excluded: number;
  /** of the alarm budget at that frame; null: without one */
  readonly threshold: number | null;
}

/** Time in which the frames of a camera could not show the scene; capture times, epoch ms. */
export interface UnseenSpan {
  /** gap: no frame came for longer than `gap_s`. frozen: all frames were one picture. */
  readonly reason: 'gap' | 'frozen';
  readonly from: number;
  readonly until: number;
}

/** Frames in a row without any difference. */
export interface StillFrames {
  /** capture time of the first of them, epoch ms */
  readonly since: number;
  /** from 2 */
  readonly frames: number;
  /** the camera is reported as frozen */
  readonly reported: boolean;
}
