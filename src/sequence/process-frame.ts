/**
 * One frame of a camera: compared with its baseline, filtered by its zones, and given to the change tracker. The result
 * depends on the state, the settings and the frame alone, so that a repeated turn gives the same result.
 */
import { type Baseline, chooseBaseline } from '../baseline/choose.js';
import type { BaselineDependencies, CameraFrameContext } from '../baseline/context.js';
import { carryOut } from '../baseline/orders.js';
import type { OperatingPoint } from '../cameras/operating-points.js';
import { countConfidence } from '../cameras/rate-ratio.js';
import type { CameraSettings } from '../cameras/settings.js';
import { filterFinding } from '../cameras/zones.js';
import { advance, applyEvents } from '../changes/advance.js';
import { observationOf } from '../changes/observation.js';
import { pendingChanges } from '../changes/pending.js';
import { restate } from '../changes/restate.js';
import { rulesOf } from '../changes/rules.js';
import { initialTrackerState, type Transition } from '../changes/state.js';
import type { HeatmapData } from '../heatmaps/data.js';
import type { Comparer, PairOutput } from '../pipeline/pair.js';
import { emptyLike } from '../pipeline/word-heatmaps.js';
import type { CameraFrame } from '../schemas/camera-frame.js';
import type { AlertIntent, CameraEvent, ChangeUpdate } from '../schemas/change.js';
import type { Finding, TimingsMs } from '../schemas/comparison.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import type { ExaminedFrame } from '../stores/camera-frames.js';
import type { BaselineEvent, CameraState } from '../stores/cameras.js';
import type { VectorOfChange } from '../stores/change-writes.js';
import {
  describeBefore,
  excludedNotes,
  gapNotes,
  isBaselineEvent,
  isChangeEvent,
  isoTime,
  resetIf,
  undecidedOf,
  withSeverity,
} from './answer.js';
import { frameThreshold } from './threshold.js';

export interface FrameDependencies extends BaselineDependencies {
  readonly pipeline: Comparer & { operatingPoints(model: string | null): readonly OperatingPoint[] };
}

export interface FrameInput extends CameraFrameContext {
  readonly comparisonId: string;
  /** since the camera's last frame, oldest first */
  readonly events: readonly (CameraEvent | BaselineEvent)[];
  /** whether the frame may cause alerts; that of a recording may not */
  readonly alerting: boolean;
}

export interface ProcessedFrame {
  readonly finding: Finding;
  readonly heatmaps: HeatmapData | null;
  readonly timings: Partial<TimingsMs>;
  /** null: there was nothing to compare with */
  readonly before: StoredFrameRef | null;
  readonly cameraFrame: CameraFrame;
  readonly state: CameraState;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly AlertIntent[];
  /** computes the search vectors of the changes that the comparison opened or made more severe; null: there is none */
  readonly vectors: (() => Promise<VectorOfChange[]>) | null;
  /** number of alerts that a cool-down suppressed */
  readonly suppressed: number;
  /** whether "before" was replaced so that open changes settled, before the frame was compared and after it */
  readonly reset: { readonly before: boolean; readonly after: boolean };
}

const NOTHING_BEFORE = 'there is nothing to compare this frame with yet';
const SKIPPED = 'this frame is not compared because it has another size';

export const initialCameraState = (): CameraState => ({
  v: 1,
  frames: 0,
  last: null,
  size: null,
  intervalMs: null,
  anchor: null,
  light: null,
  memory: {},
  dial: null,
  alerts: initialTrackerState(),
});

/** @throws ScenedeltaError as the pipeline and the stores do */
export async function processFrame(input: FrameInput, deps: FrameDependencies): Promise<ProcessedFrame> {
  const { camera, frame, at, comparisonId } = input;
  const orders = input.events.filter(isBaselineEvent);
  const ordered = carryOut(orders, input.state, camera, at);
  const { state } = ordered;
  const { settings } = camera;
  const rules = rulesOf(camera.id, settings, input.alerting);
  const baseline = await chooseBaseline({ ...input, state }, deps);
  const points = deps.pipeline.operatingPoints(settings.model);
  const { intervalMs, budget, threshold } = frameThreshold(settings, state, at, points);

  const compared = await compareWith(baseline, input, threshold, deps);
  const counts = countConfidence(state.counts, compared?.finding ?? null, points);
  const filtered = compared === null ? null : countingFinding(compared.finding, settings);

  const events = input.events.filter(isChangeEvent);
  const isReset = baseline.reset || ordered.reset;
  const before = resetIf(isReset, applyEvents(state.alerts, events), at);
  const step: Transition =
    filtered === null
      ? { state: before.state, changes: [], alerts: [], suppressed: 0, hold: false, absorb: [] }
      : advance(before.state, observationOf(filtered.finding, { comparisonId, at, frame: state.frames }), rules);

  const { any, ...outcome } = undecidedOf(step.state.tracks);
  const kept = await baseline.keep({
    finding: filtered?.finding ?? null,
    differing: compared?.finding.regions.map(({ box }) => box) ?? [],
    hold: step.hold,
    ...outcome,
    absorb: step.absorb,
  });
  // A new background shows the tracked things: their end could not be seen in this light, and in the others they would
  // be new.
  const isReplaced = any && kept.replacedBackground;
  const after = resetIf(isReplaced, step.state, at);

  const finding =
    filtered === null
      ? notCompared(baseline.skipped ? SKIPPED : NOTHING_BEFORE)
      : withSeverity(filtered.finding, step.changes);
  const examined: ExaminedFrame | undefined = baseline.skipped
    ? state.examined
    : {
        comparison: comparisonId,
        frame: frame.ref,
        at,
        settings: camera.updated_at,
        before: baseline.frame?.ref.sha256 ?? null,
        finding: filtered?.finding ?? null,
        excluded: filtered?.excluded ?? 0,
        threshold: budget?.threshold ?? null,
      };
  const notes = [
    ...gapNotes(state, at, settings.gap_s),
    ...ordered.notes,
    ...baseline.notes,
    ...excludedNotes(filtered?.excluded ?? 0),
  ];
  return {
    finding,
    heatmaps: compared === null ? null : matchWords(compared.heatmaps, filtered?.words ?? null, finding),
    timings: compared?.timings ?? {},
    before: baseline.frame?.ref ?? null,
    cameraFrame: {
      captured_at: isoTime(at),
      before: baseline.frame === null ? null : describeBefore(settings, baseline.at),
      notes,
      pending: pendingChanges(after.state, rules),
    },
    state: {
      ...kept.state,
      v: 1,
      frames: state.frames + 1,
      last: { at, sha256: frame.ref.sha256, comparison: comparisonId },
      intervalMs,
      dial: budget,
      ...(counts === undefined ? {} : { counts }),
      alerts: after.state,
      ...(examined === undefined ? {} : { examined }),
    },
    changes: [...before.changes, ...step.changes, ...after.changes],
    alerts: step.alerts,
    vectors: vectorsOf(compared, step.changes),
    suppressed: step.suppressed,
    reset: { before: isReset, after: isReplaced },
  };
}

/** @returns null if there is nothing to compare with */
async function compareWith(
  baseline: Baseline,
  { camera: { id, settings }, frame, signal }: FrameInput,
  threshold: number | null,
  { pipeline }: FrameDependencies,
) {
  if (baseline.frame === null) return null;
  return pipeline.compare({
    before: baseline.frame.bytes,
    after: frame.bytes,
    beforeKey: baseline.frame.ref.sha256,
    afterKey: frame.ref.sha256,
    model: settings.model,
    camera: id,
    threshold,
    truth: settings.truth ?? null,
    statements: true,
    signal,
  });
}

const WITH_VECTOR: ReadonlySet<ChangeUpdate['event']> = new Set(['change.opened', 'change.escalated']);

/** Each change has a vector of its own place, because two things that change at once may have nothing in common. */
function vectorsOf(compared: PairOutput | null, updates: readonly ChangeUpdate[]): ProcessedFrame['vectors'] {
  const changes = updates.filter(({ event }) => WITH_VECTOR.has(event)).map(({ change }) => change);
  const bundle = compared?.finding.model?.sha256;
  const embed = compared?.embed;
  if (changes.length === 0 || bundle === undefined || embed === undefined) return null;
  return () =>
    Promise.all(
      changes.map(async ({ id, regions }) => ({ change: id, vector: { bundle, values: await embed(regions) } })),
    );
}

function notCompared(caption: string): Finding {
  return {
    verdict: 'none',
    kind: 'none',
    nuisance: [],
    caption,
    caption_score: 1,
    words: caption.split(' ').map((text) => ({ text, score: 1 })),
    confidence: 0,
    severity: 'info',
    regions: [],
    model: null,
  };
}

/**
 * The part of a finding that counts by the zones and areas of the camera, in a sentence that is about nothing else.
 * @returns `words`: per word of the caption its position in the earlier one; null: the sentence is another one
 */
function countingFinding(whole: Finding, settings: CameraSettings) {
  const { finding, excluded } = filterFinding(whole, settings);
  if (excluded === 0) return { finding, excluded, words: whole.words.map((_word, i) => i) };
  return finding.regions.length === 0 ? { finding, excluded, words: null } : { ...restate(finding), excluded };
}

/** One heatmap per word. @param positions of the words in the earlier caption; null: a new one, with empty heatmaps */
function matchWords(
  heatmaps: HeatmapData | null,
  positions: readonly number[] | null,
  { words }: Finding,
): HeatmapData | null {
  if (heatmaps === null) return null;
  const { before, after } = heatmaps.words;
  if (positions?.length === after.length) return heatmaps;
  const empty = emptyLike(heatmaps.after);
  const ofWords = (maps: typeof after) =>
    words.map((_word, i) => (positions === null ? empty : (maps[positions[i] as number] ?? empty)));
  const matched = ofWords(after);
  return { ...heatmaps, words: { before: before === after ? matched : ofWords(before), after: matched } };
}
