/**
 * One frame of a camera: compared, sifted by its zones, its changes followed. What comes out follows from the state, the settings and
 * the frame alone, so that a turn that is taken again comes to the same.
 */

import { type OperatingPoint, thresholdFor } from '../cameras/alarm-budget.js';
import { filterFinding } from '../cameras/zones.js';
import { advance, applyEvents, resetBaseline } from '../changes/advance.js';
import { rulesOf } from '../changes/rules.js';
import {
  initialTrackerState,
  type Observation,
  type TrackerState,
  type Transition,
} from '../changes/state.js';
import type { HeatmapData } from '../heatmaps/data.js';
import type { StoredFrameRef } from '../jobs/payloads.js';
import { emptyLike } from '../pipeline/word-heatmaps.js';
import { type AlertIntent, type CameraEvent, type ChangeUpdate, compareSeverity } from '../schemas/change.js';
import type { CameraFrame, CameraNote, Finding, TimingsMs } from '../schemas/comparison.js';
import type { CameraState } from '../stores/cameras.js';
import { type BeforeDependencies, type CameraFrameContext, chooseBefore } from './camera-before.js';
import type { Comparer } from './comparison-job.js';

export interface FrameDependencies extends BeforeDependencies {
  readonly pipeline: Comparer & { operatingPoints(model: string | null): readonly OperatingPoint[] };
}

export interface FrameInput extends CameraFrameContext {
  readonly comparisonId: string;
  readonly news: readonly CameraEvent[];
}

export interface ProcessedFrame {
  readonly finding: Finding;
  readonly heatmaps: HeatmapData | null;
  readonly timings: Partial<TimingsMs>;
  /** null where there was nothing to compare with */
  readonly before: StoredFrameRef | null;
  readonly cameraFrame: CameraFrame;
  readonly state: CameraState;
  readonly changes: readonly ChangeUpdate[];
  readonly alerts: readonly AlertIntent[];
}

const DAY_MS = 86_400_000;
/** Share of a new interval between frames in the typical one. */
const INTERVAL_WEIGHT = 1 / 8;
const NOTHING_BEFORE = 'there is nothing to compare this frame with yet';

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

/** @throws ScenedeltaError as the pipeline and the stores do. */
export async function processFrame(incoming: FrameInput, deps: FrameDependencies): Promise<ProcessedFrame> {
  const { camera, state, frame, at, comparisonId, signal } = incoming;
  const { settings } = camera;
  const before = await chooseBefore(incoming, deps);
  const intervalMs = typicalInterval(state, at, settings.gap_s * 1000);
  const dial = dialled(incoming, intervalMs, deps);

  const compared =
    before.frame === null
      ? null
      : await deps.pipeline.compare({
          before: before.frame.bytes,
          after: frame.bytes,
          beforeKey: before.frame.ref.sha256,
          afterKey: frame.ref.sha256,
          model: settings.model,
          threshold: settings.threshold ?? dial?.threshold ?? null,
          signal,
        });
  const sifted = compared === null ? null : filterFinding(compared.finding, settings);

  const heard = applyEvents(state.alerts, incoming.news);
  const settle = (alerts: TrackerState, anew: boolean) =>
    anew ? resetBaseline(alerts, at) : { state: alerts, changes: [] };
  const known = settle(heard, before.anew);
  const advanced: Transition =
    sifted === null
      ? { state: known.state, changes: [], alerts: [], hold: false, absorb: [] }
      : advance(
          known.state,
          observationOf(sifted.finding, { comparisonId, at, frame: state.frames }),
          rulesOf(camera.id, settings),
        );
  const undecided = advanced.state.tracks.filter(({ stage }) => stage !== 'resolved');
  const kept = await before.keep({
    finding: sifted?.finding ?? null,
    differing: compared?.finding.regions.map(({ box }) => box) ?? [],
    hold: advanced.hold,
    pending: undecided.some(({ stage }) => stage === 'pending'),
    undecided: undecided.flatMap(({ regions }) => regions.map(({ box }) => box)),
    absorb: advanced.absorb,
  });
  // A memory that begins in another light begins with what is followed in it: there nobody could see it go, nor by day tell it from new.
  const settled = settle(advanced.state, undecided.length > 0 && beginsMemory(state, kept, frame.ref.sha256));

  const finding = sifted === null ? nothingBefore() : withSeverity(sifted.finding, advanced.changes);
  return {
    finding,
    heatmaps: compared === null ? null : mapsOf(compared.heatmaps, finding),
    timings: compared?.timings ?? {},
    before: before.frame?.ref ?? null,
    cameraFrame: {
      captured_at: iso(at),
      before:
        before.frame === null
          ? null
          : { mode: settings.before, captured_at: before.at === null ? null : iso(before.at) },
      notes: [...gapNotes(state, at, settings.gap_s), ...before.notes, ...leftOutNotes(sifted?.leftOut ?? 0)],
    },
    state: {
      ...kept,
      v: 1,
      frames: state.frames + 1,
      last: { at, sha256: frame.ref.sha256, comparison: comparisonId },
      intervalMs,
      dial,
      alerts: settled.state,
    },
    changes: [...known.changes, ...advanced.changes, ...settled.changes],
    alerts: advanced.alerts,
  };
}

/** Whether the frame as a whole is the plate of its light from now on. */
function beginsMemory(
  { memory }: Pick<CameraState, 'memory'>,
  kept: Pick<CameraState, 'memory' | 'light'>,
  sha256: string,
): boolean {
  if (kept.light === null) return false;
  return kept.memory[kept.light]?.frame.sha256 === sha256 && memory[kept.light]?.frame.sha256 !== sha256;
}

const iso = (at: number): string => new Date(at).toISOString();

/** Nuisances through which a thing that is still there may not be seen: a frame that has none of them tells as much as one without any. */
const HIDING: ReadonlySet<string> = new Set(['ir_switch', 'weather', 'defocus']);
const mayHide = ({ nuisance }: Finding): boolean => nuisance.some(({ name }) => HIDING.has(name));

/** What a finding says of the life of changes. */
export const observationOf = (
  finding: Finding,
  observed: Pick<Observation, 'comparisonId' | 'at' | 'frame'>,
): Observation => ({
  ...observed,
  verdict: finding.verdict === 'nuisance' && !mayHide(finding) ? 'none' : finding.verdict,
  kind: finding.kind,
  confidence: finding.confidence,
  caption: finding.caption,
  regions: finding.regions.map(({ side, box, area, score, zone }) => ({
    side,
    box,
    area,
    score,
    zone: zone ?? null,
  })),
});

function nothingBefore(): Finding {
  return {
    verdict: 'none',
    kind: 'none',
    nuisance: [],
    caption: NOTHING_BEFORE,
    caption_score: 1,
    words: NOTHING_BEFORE.split(' ').map((text) => ({ text, score: 1 })),
    confidence: 0,
    severity: 'info',
    regions: [],
    model: null,
  };
}

/** A comparison matters as much as the gravest change that it shows. */
function withSeverity(finding: Finding, changes: readonly ChangeUpdate[]): Finding {
  const [gravest] = changes
    .filter(({ change }) => change.status !== 'reverted')
    .map(({ change }) => change.severity)
    .sort((a, b) => compareSeverity(b, a));
  return gravest === undefined ? finding : { ...finding, severity: gravest };
}

/** One map a word: where the caption was replaced, its words have none of their own. */
function mapsOf(maps: HeatmapData | null, { words }: Finding): HeatmapData | null {
  if (maps === null || maps.words.after.length === words.length) return maps;
  const none = words.map(() => emptyLike(maps.after));
  return { ...maps, words: { before: none, after: none } };
}

/** Pauses are no intervals. @returns ms, or null before the second frame. */
function typicalInterval({ last, intervalMs }: CameraState, at: number, gapMs: number): number | null {
  if (last === null || at <= last.at || at - last.at > gapMs) return intervalMs;
  return intervalMs === null ? at - last.at : intervalMs + INTERVAL_WEIGHT * (at - last.at - intervalMs);
}

function dialled(
  { camera: { settings } }: FrameInput,
  intervalMs: number | null,
  { pipeline }: FrameDependencies,
): CameraState['dial'] {
  const every = settings.snapshot === null ? intervalMs : settings.snapshot.interval_s * 1000;
  if (settings.alarms_per_day === null || every === null) return null;
  return thresholdFor(settings.alarms_per_day, DAY_MS / every, pipeline.operatingPoints(settings.model));
}

function gapNotes({ last }: CameraState, at: number, gapSeconds: number): CameraNote[] {
  const seconds = last === null ? 0 : Math.round((at - last.at) / 1000);
  if (seconds <= gapSeconds) return [];
  return [{ code: 'gap', detail: `no frame came for ${seconds} s before this one` }];
}

const leftOutNotes = (count: number): CameraNote[] =>
  count === 0
    ? []
    : [
        {
          code: 'regions_left_out',
          detail: `${count} changed places do not count by the camera's zones and areas`,
        },
      ];
