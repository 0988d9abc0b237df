/** Feedback on changes as lines of the manifest that `scenedelta evaluate` reads. Pure. */
import { SIDES, type Side } from '../images.js';
import { framePath } from '../links.js';
import type { Change } from './change.js';

/** Reference caption of a pair that was reported in error. */
const NO_CHANGE = 'there is no change';

export interface FeedbackLine {
  readonly id: string;
  /** path relative to the folder of the manifest, where the exporting command writes the frame */
  readonly before: string;
  readonly after: string;
  readonly references: readonly string[];
  readonly verdict: 'change' | 'none' | 'tamper';
  readonly kind?: string;
  readonly scene: string;
  /** caption by the service; readers of the manifest ignore unknown fields */
  readonly caption: string;
  /** paths of the API that serve the frames */
  readonly frames: Readonly<Record<Side, string>>;
}

/**
 * @param change with feedback
 * @param extensions of the frames' files, e.g. { before: 'jpeg', after: 'png' }
 * @throws Error if it has no feedback
 */
export function feedbackLine(change: Change, extensions: Readonly<Record<Side, string>>): FeedbackLine {
  const { id, camera, kind, feedback } = change;
  // Names of zones are no words of the model, which the manifest is about.
  const caption = change.model_caption ?? change.caption;
  if (feedback === null) throw new Error(`change ${id} has no feedback`);
  const comparison = change.comparisons.best;
  const paths = (of: (side: Side) => string) =>
    Object.fromEntries(SIDES.map((side) => [side, of(side)])) as Record<Side, string>;
  const common = {
    id,
    ...paths((side) => `frames/${comparison}-${side}.${extensions[side]}`),
    scene: camera,
    caption,
    frames: paths((side) => framePath(comparison, side)),
  };
  return feedback.judgement === 'false_alarm'
    ? { ...common, references: [feedback.caption ?? NO_CHANGE], verdict: 'none' }
    : {
        ...common,
        references: [feedback.caption ?? caption],
        verdict: kind === 'tamper' ? 'tamper' : 'change',
        kind,
      };
}

/** 'image/jpeg' -> 'jpeg' */
export const extensionOf = (contentType: string): string => /^image\/([a-z0-9]+)$/.exec(contentType)?.[1] ?? 'bin';
