/**
 * The fold of a camera's frames: from the state before a frame and the frame's evidence to the state after it, its
 * changes, its alerts and its answer. Live frames, quiet ones, recordings and dry runs all call `foldFrame`. Pure.
 */
import type { Box } from '../../base/images.js';
import { present } from '../../base/present.js';
import { isoTime } from '../../base/wall-clock.js';
import type { CameraFrame, CameraNote } from '../../schemas/camera-frame.js';
import type { AlertIntent, CameraEvent, ChangeUpdate } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import { isForeign } from '../../schemas/loss.js';
import type { CameraHealthEvent } from '../../schemas/stream-event.js';
import type { VisitEvent } from '../../schemas/visit.js';
import type { FrameOutcome } from '../baseline/context.js';
import { type BackgroundBlend, type NextBaseline, nextBaseline } from '../baseline/next.js';
import { carryOut } from '../baseline/orders.js';
import { advance, applyEvents } from '../changes/advance.js';
import { observationOf } from '../changes/observation.js';
import { pendingChanges } from '../changes/pending.js';
import { restate } from '../changes/restate.js';
import type { ChangeRules } from '../changes/rules.js';
import { shownAnew } from '../changes/settled.js';
import type { Transition } from '../changes/state.js';
import { isUncounted } from '../changes/tracker.js';
import { hasShifted } from '../settings/background-model.js';
import type { StoredCamera } from '../settings/camera.js';
import { LIGHTS } from '../settings/light.js';
import type { OperatingPoint } from '../settings/operating-points.js';
import { countConfidence } from '../settings/rate-ratio.js';
import type { CameraSettings } from '../settings/settings.js';
import { filterFinding } from '../settings/zones.js';
import type { BaselineEvent, CameraState, ExaminedFrame, UnseenSpan } from '../state/state.js';
import { thingsInView } from '../visits/fold.js';
import {
  describeBefore,
  excludedNotes,
  gapNotes,
  gapSpans,
  isBaselineEvent,
  isChangeEvent,
  notCompared,
  resetIf,
  undecidedOf,
  withSeverity,
} from './answer.js';
import type { FrameEvidence } from './evidence.js';
import { checkLens } from './lens-cover.js';
import { newViewOrder } from './other-view.js';
import { checkSignal } from './signal.js';
import { checkStillness } from './still.js';
import { frameThreshold, judgedAt } from './threshold.js';
import { concludeVisits, followVisits } from './visits.js';

export interface FoldContext {
  readonly camera: StoredCamera;
  /** capture time, epoch ms; never earlier than that of the frame before */
  readonly at: number;
  readonly comparisonId: string;
  /** since the camera's last frame, oldest first */
  readonly events: readonly (CameraEvent | BaselineEvent)[];
  /** about the frame, before it was examined; absent: none */
  readonly notes?: readonly CameraNote[];
  /** of the settings (rulesOf) */
  readonly rules: ChangeRules;
  /** of the camera's bundle */
  readonly points: readonly OperatingPoint[];
  /**
   * of the camera's bundle, 0..1: for evidence that was made with another threshold. null: unknown, or such evidence
   * does not come
   */
  readonly bundleThreshold: number | null;
}

export interface FoldedFrame {
  readonly finding: Finding;
  /** per word of the caption its position in that of the evidence; null: the sentence is another one */
  readonly words: readonly number[] | null;
  readonly cameraFrame: CameraFrame;
  readonly state: CameraState;
  /** to be carried out on the state (withBlend) before it is saved; null: there is none */
  readonly blend: BackgroundBlend | null;
  /** part of the frame in the next baseline */
  readonly takes: NextBaseline['takes'];
  readonly changes: readonly ChangeUpdate[];
  /** visits that began, ended or were linked with an object */
  readonly visits: readonly VisitEvent[];
  readonly alerts: readonly AlertIntent[];
  /** number of alerts that a cool-down suppressed */
  readonly suppressed: number;
  /** changes became part of "before" */
  readonly absorbs: boolean;
  /** threshold of the settings or of the false-alarm budget, 0..1; null: the bundle decides */
  readonly threshold: number | null;
  /** whether "before" was replaced so that open changes settled, before the frame was compared and after it */
  readonly reset: { readonly before: boolean; readonly after: boolean };
  /** the camera lost its signal, or something has covered its lens, or it has its view again */
  readonly health: readonly CameraHealthEvent[];
  /** spans that end with this frame */
  readonly unseen: readonly UnseenSpan[];
}

export function foldFrame(previous: CameraState, evidence: FrameEvidence, context: FoldContext): FoldedFrame {
  const { camera, at, comparisonId, points, events, rules } = context;
  const { settings } = camera;
  const { baseline, content } = evidence;
  const { otherView } = evidence;
  const newView = otherView?.confirmed === true ? [newViewOrder(otherView)] : [];
  const ordered = carryOut([...events.filter(isBaselineEvent), ...newView], previous, camera, at);
  const { state } = ordered;
  const { intervalMs, budget, threshold } = frameThreshold(settings, state, at, points);
  const counts = countConfidence(state.counts, evidence.examined ? evidence.finding : null, points);
  const counting = countingFinding(evidence, threshold, context);

  const { candidate } = baseline;
  const isReset = baseline.reset || ordered.reset;
  const before = resetIf(isReset, applyEvents(state.tracker, events.filter(isChangeEvent)), at, 'orders');
  const frame = { comparisonId, at, frame: state.frames };
  const shown = { camera, at, comparisonId, rules };
  const identical = content === state.last?.sha256 || evidence.identical;
  const stillness = checkStillness(camera, state, { at, identical });
  const light =
    candidate.kind === 'background'
      ? { now: candidate.light, others: LIGHTS.filter((one) => one !== candidate.light && state.backgrounds[one]) }
      : undefined;
  const observed = counting.finding && {
    ...observationOf(counting.finding, frame),
    ...present({ threshold: threshold ?? undefined, light }),
  };
  const followed = followVisits(previous, evidence, shown, {
    finding: counting.finding,
    restart: isReset || stillness.turns,
    repeats: identical,
    uncounted: observed !== null && isUncounted(before.state, observed),
  });
  // The frames of a new view have confirmed the tampering by themselves.
  const confirming = newView.length > 0 ? { ...rules, confirmFrames: 1, persistMs: 0 } : rules;
  const step: Transition =
    counting.finding === null || observed === null || isForeign(counting.finding)
      ? { state: before.state, changes: [], alerts: [], suppressed: 0, hold: false, absorb: [] }
      : advance(
          before.state,
          {
            ...observed,
            repeats: identical,
            shifted: candidate.kind === 'background' && hasShifted(counting.finding, candidate.width),
            inView: thingsInView(followed.state),
          },
          confirming,
        );
  const { any, ...undecided } = undecidedOf(step.state.tracks, rules);
  const outcome: FrameOutcome =
    newView.length > 0
      ? { finding: null, differing: [], hold: false, pending: false, ending: false, undecided: [], absorb: [] }
      : {
          finding: counting.finding,
          differing: [...(evidence.finding?.regions.map(({ box }) => box) ?? []), ...coveredBoxes(evidence.finding)],
          hold: step.hold,
          ...undecided,
          absorb: step.absorb,
        };
  const next = nextBaseline(camera, state, baseline, { frame: evidence.frame, at, outcome });
  // A new background shows the tracked things: their end could not be seen in this light, and in the others they would
  // be new.
  const isReplaced = any && (next.replacedBackground || newView.length > 0);
  const seen = next.replacedBackground && light ? shownAnew(step.state, light.now) : step.state;
  const after = resetIf(isReplaced, seen, at, light);

  const visits = concludeVisits(followed, shown, {
    absorbed: next.replacedBackground ? outcome.differing : outcome.absorb.map(({ box }) => box),
    ...present({ light }),
    updates: step.changes,
  });
  const examined =
    evidence.frame === null || !evidence.examined || baseline.skipped
      ? state.examined
      : {
          comparison: comparisonId,
          frame: evidence.frame,
          at,
          settings: camera.updated_at,
          before: baseline.before?.frame.sha256 ?? null,
          finding: counting.finding,
          excluded: counting.excluded,
          threshold: budget?.threshold ?? null,
        };
  const lost = checkSignal(camera.id, state.signal, {
    at,
    finding: counting.finding,
    skipped: baseline.skipped,
    confirmFrames: rules.confirmFrames,
  });
  const covered = checkLens(camera, state.lens, { at, finding: counting.finding });
  const ofFrame = [...(context.notes ?? []), ...ordered.notes, ...baseline.notes];
  const notes = [...gapNotes(state, at, settings.gap_s), ...ofFrame];
  return {
    finding: counting.finding === null ? notCompared(baseline.skipped) : withSeverity(counting.finding, step.changes),
    words: counting.words,
    cameraFrame: {
      captured_at: isoTime(at),
      before: baseline.before === null ? null : describeBefore(settings, baseline.before.at),
      notes: [...notes, ...excludedNotes(counting.excluded), ...stillness.notes],
      ...(evidence.examined || state.examined === undefined ? {} : { nothing_new_since: sinceOf(state.examined) }),
      pending: pendingChanges(after.state, rules),
    },
    state: {
      ...next.state,
      frames: state.frames + 1,
      last: { at, sha256: content, comparison: comparisonId },
      intervalMs,
      budgetThreshold: budget,
      tracker: after.state,
      recordedFrom: previous.recordedFrom ?? at,
      visits: visits.state,
      // Stored states have no fields without a value.
      ...present({
        counts,
        examined,
        noise: isForeign(counting.finding) ? state.noise : evidence.noise,
        still: stillness.still,
        signal: lost.signal,
        lens: covered.lens,
        levels: state.levels,
        stretchedFrom: state.stretchedFrom,
      }),
      ...(otherView?.confirmed === false ? { otherView: { frame: otherView.frame, frames: otherView.frames } } : {}),
    },
    blend: next.blend,
    takes: next.takes,
    changes: [...before.changes, ...step.changes, ...after.changes],
    visits: visits.events,
    alerts: step.alerts,
    suppressed: step.suppressed,
    absorbs: step.absorb.length > 0,
    threshold,
    reset: { before: isReset, after: isReplaced },
    health: [lost.event, covered.event].filter((one) => one !== null),
    unseen: [...gapSpans(previous, at, settings.gap_s), ...stillness.unseen, ...lost.unseen],
  };
}

/** The background does not learn the parts that something on the lens hides. */
const coveredBoxes = (finding: Finding | null): readonly Box[] => finding?.lens?.boxes ?? [];

const sinceOf = ({ comparison, at }: ExaminedFrame) => ({ comparison, captured_at: isoTime(at) });

/** The part of a finding that counts by threshold, zones and areas, in a sentence that is about nothing else. */
function countingFinding(
  { finding: found, excluded: already, threshold: made }: FrameEvidence,
  threshold: number | null,
  { camera, bundleThreshold }: FoldContext,
): { readonly finding: Finding | null; readonly excluded: number; readonly words: FoldedFrame['words'] } {
  if (found === null) return { finding: null, excluded: 0, words: null };
  const words = found.words.map((_word, i) => i);
  if (already !== null) return { finding: found, excluded: already, words };
  const judged = made === threshold ? found : judgedAt(found, threshold ?? bundleThreshold);
  return countingIn(judged, words, camera.settings);
}

/** @param words their positions in the words of the finding */
export function countingIn(judged: Finding, words: readonly number[], settings: CameraSettings) {
  const { finding, excluded } = filterFinding(judged, settings);
  if (excluded === 0) return { finding, excluded, words };
  return finding.regions.length === 0 ? { finding, excluded, words: null } : { ...restate(finding), excluded };
}
