/**
 * Evidence of a quiet frame: one that equals the last examined frame, except for noise. It is the evidence that the
 * examination would give, from the state alone. Pure. A quiet frame decides nothing: if a change would open, escalate,
 * settle or revert by it, or "before" would be replaced, it has no evidence, so that it is examined instead.
 */
import type { Size } from '../../base/images.js';
import { seededRandom } from '../../base/random.js';
import { identicalFinding } from '../../pipeline/finding.js';
import type { Finding } from '../../schemas/comparison.js';
import { standingBaseline } from '../baseline/standing.js';
import { applyEvents } from '../changes/advance.js';
import type { ChangeRules } from '../changes/rules.js';
import type { Track } from '../changes/state.js';
import type { CameraState, ExaminedFrame } from '../state/state.js';
import { isBaselineEvent, isChangeEvent } from './answer.js';
import type { FrameEvidence, PreviewEvidence } from './evidence.js';
import { type FoldContext, type FoldedFrame, foldFrame } from './fold.js';
import { frameThreshold } from './threshold.js';

/**
 * @param seen of a frame that equals the last examined one
 * @param size upright size of the encoded frame
 * @returns the evidence and the fold of it; null if the frame has to be examined
 */
export function foldQuiet(
  state: CameraState,
  seen: PreviewEvidence,
  size: Size,
  context: FoldContext,
): { readonly evidence: FrameEvidence; readonly folded: FoldedFrame } | null {
  const { camera, at, events, points, rules } = context;
  const examined = applicable(state, context);
  const baseline = standingBaseline(camera, state, size);
  if (examined === null || baseline === null) return null;
  const answer = answerOf(examined, baseline.before.frame.sha256);
  const { budget } = frameThreshold(camera.settings, state, at, points);
  if (answer === null || !holdsAt(budget?.threshold ?? null, examined)) return null;
  const { tracks } = applyEvents(state.tracker, events.filter(isChangeEvent));
  if (tracks.some((track) => awaitsEvidence(track, rules))) return null;
  const evidence: FrameEvidence = {
    ...seen,
    frame: null,
    baseline,
    finding: answer,
    excluded: answer === examined.finding ? examined.excluded : 0,
    threshold: examined.threshold,
    examined: false,
  };
  const folded = foldFrame(state, evidence, context);
  return decides(folded) ? null : { evidence, folded };
}

/** Share of `examine_every_s` after which a frame may be examined again. */
const LEAST_PERIOD = 0.8;

/** @returns the examined frame, if its answer may count for this one at all */
function applicable({ examined, last }: CameraState, { camera, at, events }: FoldContext): ExaminedFrame | null {
  const { examine_every_s, gap_s } = camera.settings;
  if (examined === undefined || last === null || examined.settings !== camera.updated_at) return null;
  // By camera and frame: cameras that began together would otherwise all wait for the model together, once per period.
  const share = seededRandom(`${camera.id} ${examined.at}`).uniform(LEAST_PERIOD, 1);
  if (at - examined.at >= share * examine_every_s * 1000 || at - last.at > gap_s * 1000) return null;
  return events.some(isBaselineEvent) ? null : examined;
}

/**
 * @param before sha256 of "before"
 * @returns the finding that the examination of an equal frame would have; null if it is unknown
 */
function answerOf({ frame, finding, before: compared }: ExaminedFrame, before: string): Finding | null {
  // The examined frame has become "before" itself, so that an equal frame does not differ from it.
  if (before === frame.sha256) return identicalFinding();
  return before === compared ? finding : null;
}

/** Whether the threshold of the false-alarm budget, which moves with the frame rate, gives the same verdict. */
function holdsAt(budget: number | null, { finding, threshold }: ExaminedFrame): boolean {
  if (budget === null || threshold === null || finding === null) return budget === null && threshold === null;
  return finding.confidence >= threshold === finding.confidence >= budget;
}

/**
 * Whether the next frame has to show or to refute the track by itself: a repeated answer confirms nothing, because it
 * repeats the error as well.
 */
const awaitsEvidence = (track: Track, { confirmFrames }: Pick<ChangeRules, 'confirmFrames'>): boolean =>
  (track.stage === 'pending' && track.seen < confirmFrames) || (track.stage === 'open' && track.missed > 0);

const decides = ({ changes, alerts, suppressed, absorbs, takes }: FoldedFrame): boolean =>
  changes.some(({ event }) => event !== null && event !== 'change.persisting') ||
  alerts.length > 0 ||
  suppressed > 0 ||
  absorbs ||
  takes !== 'nothing';
