/**
 * One frame of a camera: compared with its baseline, filtered by its zones, and given to the change tracker. The result
 * depends on the state, the settings and the frame alone, so that a repeated turn gives the same result.
 */
import { type Baseline, chooseBaseline } from '../baseline/choose.js';
import type { BaselineDependencies, CameraFrameContext } from '../baseline/context.js';
import { carryOut } from '../baseline/orders.js';
import { type BudgetThreshold, budgetThreshold, type OperatingPoint } from '../cameras/alarm-budget.js';
import type { CameraSettings } from '../cameras/settings.js';
import { filterFinding } from '../cameras/zones.js';
import { advance, applyEvents, resetBaseline } from '../changes/advance.js';
import { observationOf } from '../changes/observation.js';
import { pendingChanges } from '../changes/pending.js';
import { rulesOf } from '../changes/rules.js';
import { initialTrackerState, type Track, type TrackerState, type Transition } from '../changes/state.js';
import type { HeatmapData } from '../heatmaps/data.js';
import { emptyLike } from '../pipeline/word-heatmaps.js';
import { type AlertIntent, type CameraEvent, type ChangeUpdate, compareSeverity } from '../schemas/change.js';
import type { CameraFrame, CameraNote, Finding, TimingsMs } from '../schemas/comparison.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import type { BaselineEvent, CameraState } from '../stores/cameras.js';
import type { Comparer } from './comparison-job.js';

export interface FrameDependencies extends BaselineDependencies {
  readonly pipeline: Comparer & { operatingPoints(model: string | null): readonly OperatingPoint[] };
}

export interface FrameInput extends CameraFrameContext {
  readonly comparisonId: string;
  /** since the camera's last frame, oldest first */
  readonly events: readonly (CameraEvent | BaselineEvent)[];
}

interface ProcessedFrame {
  readonly finding: Finding;
  readonly heatmaps: HeatmapData | null;
  readonly timings: Partial<TimingsMs>;
  /** null: there was nothing to compare with */
  readonly before: StoredFrameRef | null;
  readonly cameraFrame: CameraFrame;
  readonly state: CameraState;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly AlertIntent[];
  /** number of alerts that a cool-down suppressed */
  readonly suppressed: number;
}

/** Weight of a new interval between frames in the exponential moving average. */
const INTERVAL_WEIGHT = 1 / 8;
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
  const rules = rulesOf(camera.id, settings);
  const baseline = await chooseBaseline({ ...input, state }, deps);
  const intervalMs = typicalInterval(state, at, settings.gap_s * 1000);
  const budget = budgetThreshold(settings, intervalMs, deps.pipeline.operatingPoints(settings.model));

  const compared = await compareWith(baseline, input, budget, deps);
  const filtered = compared === null ? null : filterFinding(compared.finding, settings);

  const events = input.events.filter((event) => !isBaselineEvent(event));
  const before = resetIf(baseline.reset || ordered.reset, applyEvents(state.alerts, events), at);
  const step: Transition =
    filtered === null
      ? { state: before.state, changes: [], alerts: [], suppressed: 0, hold: false, absorb: [] }
      : advance(before.state, observationOf(filtered.finding, { comparisonId, at, frame: state.frames }), rules);

  const undecided = step.state.tracks.filter(({ stage }) => stage !== 'resolved');
  const kept = await baseline.keep({
    finding: filtered?.finding ?? null,
    differing: compared?.finding.regions.map(({ box }) => box) ?? [],
    hold: step.hold,
    pending: undecided.some(({ stage }) => stage === 'pending'),
    undecided: undecided.flatMap(boxesOf),
    absorb: step.absorb,
  });
  // A new background shows the tracked things: their end could not be seen in this light, and in the others they would
  // be new.
  const after = resetIf(undecided.length > 0 && kept.replacedBackground, step.state, at);

  const finding =
    filtered === null
      ? notCompared(baseline.skipped ? SKIPPED : NOTHING_BEFORE)
      : withSeverity(filtered.finding, step.changes);
  const notes = [
    ...gapNotes(state, at, settings.gap_s),
    ...ordered.notes,
    ...baseline.notes,
    ...excludedNotes(filtered?.excluded ?? 0),
  ];
  return {
    finding,
    heatmaps: compared === null ? null : matchWords(compared.heatmaps, finding),
    timings: compared?.timings ?? {},
    before: baseline.frame?.ref ?? null,
    cameraFrame: {
      captured_at: isoTime(at),
      before: describe(baseline, settings),
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
      alerts: after.state,
    },
    changes: [...before.changes, ...step.changes, ...after.changes],
    alerts: step.alerts,
    suppressed: step.suppressed,
  };
}

const isBaselineEvent = (event: CameraEvent | BaselineEvent): event is BaselineEvent =>
  event.type === 'baseline.set' || event.type === 'baseline.reset';

/** @returns null if there is nothing to compare with */
async function compareWith(
  baseline: Baseline,
  { camera: { settings }, frame, signal }: FrameInput,
  budget: BudgetThreshold | null,
  { pipeline }: FrameDependencies,
) {
  if (baseline.frame === null) return null;
  return pipeline.compare({
    before: baseline.frame.bytes,
    after: frame.bytes,
    beforeKey: baseline.frame.ref.sha256,
    afterKey: frame.ref.sha256,
    model: settings.model,
    threshold: settings.threshold ?? budget?.threshold ?? null,
    statements: true,
    signal,
  });
}

const resetIf = (reset: boolean, state: TrackerState, at: number) =>
  reset ? resetBaseline(state, at) : { state, changes: [] };

const boxesOf = ({ regions }: Track) => regions.map(({ box }) => box);
const isoTime = (at: number): string => new Date(at).toISOString();

const describe = ({ frame, at }: Baseline, { before }: CameraSettings): CameraFrame['before'] =>
  frame === null ? null : { mode: before, captured_at: at === null ? null : isoTime(at) };

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

/** The severity of a comparison is the highest among the changes that it shows. */
function withSeverity(finding: Finding, changes: readonly ChangeUpdate[]): Finding {
  const [highest] = changes
    .filter(({ change }) => change.status !== 'reverted')
    .map(({ change }) => change.severity)
    .sort((a, b) => compareSeverity(b, a));
  return highest === undefined ? finding : { ...finding, severity: highest };
}

/** One heatmap per word; the words of a replaced caption get empty ones. */
function matchWords(heatmaps: HeatmapData | null, { words }: Finding): HeatmapData | null {
  if (heatmaps === null || heatmaps.words.after.length === words.length) return heatmaps;
  const empty = words.map(() => emptyLike(heatmaps.after));
  return { ...heatmaps, words: { before: empty, after: empty } };
}

/** Moving average of the time between two frames without the gaps. @returns ms; null before the second frame */
function typicalInterval({ last, intervalMs }: CameraState, at: number, gapMs: number): number | null {
  if (last === null || at <= last.at || at - last.at > gapMs) return intervalMs;
  return intervalMs === null ? at - last.at : intervalMs + INTERVAL_WEIGHT * (at - last.at - intervalMs);
}

function gapNotes({ last }: CameraState, at: number, gapSeconds: number): CameraNote[] {
  const seconds = last === null ? 0 : Math.round((at - last.at) / 1000);
  if (seconds <= gapSeconds) return [];
  return [{ code: 'gap', detail: `no frame came for ${seconds} s before this one` }];
}

function excludedNotes(count: number): CameraNote[] {
  if (count === 0) return [];
  const detail = `${count} changed regions do not count by the camera's zones and areas`;
  return [{ code: 'regions_left_out', detail }];
}
