/** Evidence of a camera's frame: all that the fold reads besides state and settings. Plain JSON. */
import type { Finding } from '../../schemas/comparison.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { SeenThing } from '../../schemas/seen-thing.js';
import type { BaselineEvidence } from '../baseline/context.js';
import type { NoiseModel } from '../quiet/noise.js';
import type { OtherView } from './other-view.js';

/** Evidence of the preview of a frame beside that of the last examined frame. */
export interface PreviewEvidence {
  /** identifies the content of the frame: the sha256 of its bytes, or any other text that equal frames share */
  readonly content: string;
  /** the previews do not differ at all */
  readonly identical: boolean;
  /** noise of the camera with this frame; absent: none was learned yet */
  readonly noise?: NoiseModel;
}

export interface FrameEvidence extends PreviewEvidence {
  /** the frame as it is stored; null: it is not, because it is quiet */
  readonly frame: StoredFrameRef | null;
  readonly baseline: BaselineEvidence;
  /** of the comparison; null: there was nothing to compare with */
  readonly finding: Finding | null;
  /** the things of its regions; absent: they are not known apart from the regions */
  readonly seen?: readonly SeenThing[];
  /** the frame shows another view, without `confirmed` that of a foreign picture; with it the baseline is replaced */
  readonly otherView?: OtherView;
  /** number of regions that zones and areas have excluded from the finding; null: it still has them */
  readonly excluded: number | null;
  /** with which the finding was made, 0..1; null: that of the bundle */
  readonly threshold: number | null;
  /** false: a quiet frame, which has the answer of the last examined one */
  readonly examined: boolean;
}
