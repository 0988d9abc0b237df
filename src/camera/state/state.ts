/**
 * State of a camera between two frames, and the frames that it refers to. Plain JSON in the terms of the glossary.
 */
import type { LevelRange, Size } from '../../base/images.js';
import type { Finding } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { SignalReason } from '../../schemas/loss.js';
import { initialTrackerState, type TrackerState } from '../changes/state.js';
import type { NoiseModel } from '../quiet/noise.js';
import type { BudgetThreshold } from '../settings/alarm-budget.js';
import type { BackgroundModel } from '../settings/background-model.js';
import type { Light } from '../settings/light.js';
import type { ConfidenceCounts } from '../settings/rate-ratio.js';
import { initialVisitsState, type VisitsState } from '../visits/state.js';

/** Saved atomically with each comparison of a camera. */
export interface CameraState {
  /** number of processed frames */
  readonly frames: number;
  readonly last: FrameDone | null;
  /** upright size of the frames; null before the first one */
  readonly size: Size | null;
  /** another size that the last `frames` frames had, until it is confirmed; absent if the last frame had `size` */
  readonly otherSize?: Size & { readonly frames: number };
  /** upright size of the last frame, which was stretched to the shape of the others; absent if it had their shape */
  readonly stretchedFrom?: Size;
  /** another view that the last `frames` frames had, the latest of them; absent if the last frame had the camera's */
  readonly otherView?: { readonly frame: StoredFrameRef; readonly frames: number };
  /** of a thermal camera, whose frames all become 8-bit grey by it; absent for others */
  readonly levels?: LevelRange;
  /** moving average of the time between two frames, ms */
  readonly intervalMs: number | null;
  /** "before" of the next frame in the modes previous and reference; `at`: capture time, epoch ms; null if unknown */
  readonly before: { readonly frame: StoredFrameRef; readonly at: number | null } | null;
  /** of the last frame */
  readonly light: Light | null;
  /** frames in a row that had this light */
  readonly lightFrames: number;
  /** the background model: one plate per light */
  readonly backgrounds: BackgroundModel<StoredFrameRef>;
  /** threshold of the false-alarm budget at the last frame; null: without one */
  readonly budgetThreshold: BudgetThreshold | null;
  /** for the threshold of the false-alarm budget; absent before the first frame, and without operating points */
  readonly counts?: ConfidenceCounts;
  /** of the change tracker */
  readonly tracker: TrackerState;
  readonly visits: VisitsState;
  /** mode and chosen reference of the last comparison; if they differ from the next, the baseline is reset */
  readonly against?: string;
  /** absent before the first comparison */
  readonly examined?: ExaminedFrame;
  /** absent before the second preview */
  readonly noise?: NoiseModel;
  /** capture time of the first frame from which on unseen spans are recorded, epoch ms; null before it */
  readonly recordedFrom: number | null;
  /** absent if the last frame differed from the one before */
  readonly still?: StillFrames & {
    /** for so long that the camera counts as stuck */
    readonly stuck: boolean;
  };
  /** absent while nothing on the lens covers much of the view */
  readonly lens?: LensCovered;
  /** absent if the last frame showed the scene */
  readonly signal?: StillFrames & {
    readonly reason: SignalReason;
    /** an event has reported them */
    readonly reported: boolean;
  };
}

export const initialCameraState = (): CameraState => ({
  frames: 0,
  last: null,
  size: null,
  intervalMs: null,
  before: null,
  light: null,
  lightFrames: 0,
  backgrounds: {},
  budgetThreshold: null,
  tracker: initialTrackerState(),
  visits: initialVisitsState(),
  recordedFrom: null,
});

/** An order of the API that replaces the baseline; it waits among the camera's events for the next frame. */
export type BaselineEvent =
  | {
      readonly type: 'baseline.reset';
      /** absent: by request */
      readonly because?: string;
    }
  | {
      readonly type: 'baseline.set';
      readonly frame: StoredFrameRef;
      /** upright size of the encoded picture, px */
      readonly size: Size;
      /** working size, px */
      readonly width: number;
      readonly height: number;
      readonly light: Light;
    };

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
  /** of the false-alarm budget at that frame; null: without one */
  readonly threshold: number | null;
}

/** Time in which the frames of a camera could not show the scene; capture times, epoch ms. */
export interface UnseenSpan {
  /** gap: no frame came for longer than `gap_s`. frozen: one picture. foreign_picture: of another shape or view. */
  readonly reason: 'gap' | 'frozen' | 'foreign_picture';
  readonly from: number;
  readonly until: number;
}

/** Something on the lens that covers much of the view; capture times, epoch ms. */
export interface LensCovered {
  /** of the first of the frames that it covers */
  readonly since: number;
  /** share of the view in the last of them, 0..1 */
  readonly share: number;
  /** an event has reported it */
  readonly reported: boolean;
  /** of the first of the frames without it, while they have not lasted for `covered_after_s` */
  readonly clearSince?: number;
}

/** Frames in a row without any difference, or that do not show the scene. */
export interface StillFrames {
  /** capture time of the first of them, epoch ms */
  readonly since: number;
  readonly frames: number;
}
