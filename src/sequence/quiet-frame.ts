/**
 * The answer about a quiet frame: one that equals the last examined frame, but for noise. It is the answer that the
 * examination would give, derived from that of the examined frame. Pure. A quiet frame counts and decides nothing: if a
 * change would open, escalate, settle or revert by it, or "before" would be replaced, the frame is examined instead.
 */
import { standingBaseline } from '../baseline/standing.js';
import type { BudgetThreshold } from '../cameras/alarm-budget.js';
import type { OperatingPoint } from '../cameras/operating-points.js';
import { countConfidence } from '../cameras/rate-ratio.js';
import { advance, applyEvents } from '../changes/advance.js';
import { observationOf } from '../changes/observation.js';
import { pendingChanges } from '../changes/pending.js';
import { type ChangeRules, rulesOf } from '../changes/rules.js';
import type { Track, Transition } from '../changes/state.js';
import type { Size } from '../images.js';
import { identicalFinding } from '../pipeline/finding.js';
import type { Finding } from '../schemas/comparison.js';
import type { ExaminedFrame } from '../stores/camera-frames.js';
import {
  describeBefore,
  excludedNotes,
  isBaselineEvent,
  isChangeEvent,
  isoTime,
  undecidedOf,
  withSeverity,
} from './answer.js';
import type { FrameInput, ProcessedFrame } from './process-frame.js';
import { frameThreshold } from './threshold.js';

export interface QuietInput
  extends Pick<FrameInput, 'camera' | 'state' | 'at' | 'events' | 'alerting' | 'comparisonId'> {
  /** StepInput.content */
  readonly content: string;
  /** upright size of the encoded frame */
  readonly size: Size;
}

/**
 * @param points of the camera's bundle
 * @returns null if the frame has to be examined
 */
export function quietFrame(input: QuietInput, points: readonly OperatingPoint[]): ProcessedFrame | null {
  const { camera, state, at, comparisonId } = input;
  const { settings } = camera;
  // The frame has the known size, which ends a row of frames of another one.
  const { otherSize: _otherSize, ...known } = state;
  const examined = applicable(input);
  const standing = standingBaseline(camera, state, input);
  if (examined === null || standing === null) return null;
  const { intervalMs, budget } = frameThreshold(settings, state, at, points);
  const counts = countConfidence(state.counts, null, points);
  const answer = answerOf(examined, standing.frame.sha256);
  if (answer === null || !holdsAt(budget, examined)) return null;

  const rules = rulesOf(camera.id, settings, input.alerting);
  const before = applyEvents(state.alerts, input.events.filter(isChangeEvent));
  if (before.tracks.some((track) => awaitsEvidence(track, rules))) return null;
  const step = advance(before, observationOf(answer, { comparisonId, at, frame: state.frames }), rules);
  if (decides(step)) return null;
  const { any: _any, ...outcome } = undecidedOf(step.state.tracks);
  const kept = standing.keep({ finding: answer, differing: [], hold: step.hold, absorb: step.absorb, ...outcome });
  if (kept === null) return null;
  return {
    finding: withSeverity(answer, step.changes),
    heatmaps: null,
    timings: {},
    before: standing.frame,
    cameraFrame: {
      captured_at: isoTime(at),
      before: describeBefore(settings, standing.at),
      notes: answer === examined.finding ? excludedNotes(examined.excluded) : [],
      nothing_new_since: { comparison: examined.comparison, captured_at: isoTime(examined.at) },
      pending: pendingChanges(step.state, rules),
    },
    state: {
      ...known,
      ...kept,
      frames: state.frames + 1,
      last: { at, sha256: input.content, comparison: comparisonId },
      intervalMs,
      dial: budget,
      ...(counts === undefined ? {} : { counts }),
      alerts: step.state,
    },
    changes: step.changes,
    alerts: step.alerts,
    vectors: null,
    suppressed: step.suppressed,
    reset: { before: false, after: false },
  };
}

/** @returns the examined frame, if its answer may count for this one at all */
function applicable({ camera, state, at, events }: QuietInput): ExaminedFrame | null {
  const { examined, last } = state;
  const { examine_every_s, gap_s } = camera.settings;
  if (examined === undefined || last === null || examined.settings !== camera.updated_at) return null;
  if (at - examined.at >= examine_every_s * 1000 || at - last.at > gap_s * 1000) return null;
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

/** Whether the threshold of the alarm budget, which moves with the rate of the frames, gives the same verdict. */
function holdsAt(budget: BudgetThreshold | null, { finding, threshold }: ExaminedFrame): boolean {
  if (budget === null || threshold === null || finding === null) return budget === null && threshold === null;
  return finding.confidence >= threshold === finding.confidence >= budget.threshold;
}

/**
 * Whether the next frame has to show or to refute the track by itself: a repeated answer confirms nothing, because it
 * repeats the error as well.
 */
const awaitsEvidence = (track: Track, { confirmFrames }: Pick<ChangeRules, 'confirmFrames'>): boolean =>
  (track.stage === 'pending' && track.seen < confirmFrames) || (track.stage === 'open' && track.missed > 0);

const decides = ({ changes, alerts, suppressed, absorb }: Transition): boolean =>
  changes.some(({ event }) => event !== null && event !== 'change.persisting') ||
  alerts.length > 0 ||
  suppressed > 0 ||
  absorb.length > 0;
