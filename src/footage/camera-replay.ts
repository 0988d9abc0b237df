/** Replay of one camera's recorded evidence under other settings; the results of dry-run.ts. Pure. */
import { type AlarmBudget, describeBudget } from '../cameras/alarm-budget.js';
import type { OperatingPoint } from '../cameras/operating-points.js';
import { type ConfidenceCounts, countConfidence } from '../cameras/rate-ratio.js';
import type { CameraSettings } from '../cameras/settings.js';
import { filterFinding } from '../cameras/zones.js';
import { advance, forgetSettled, resetBaseline } from '../changes/advance.js';
import { observationOf } from '../changes/observation.js';
import { type ChangeRules, rulesOf } from '../changes/rules.js';
import { initialTrackerState, type TrackerState } from '../changes/state.js';
import { ScenedeltaError } from '../errors.js';
import { derivedId } from '../ids.js';
import type { AlertIntent, ChangeUpdate, FoundChange } from '../schemas/change.js';
import type { Finding } from '../schemas/comparison.js';
import { frameThreshold } from '../sequence/threshold.js';
import { BaselineReplay } from './baseline-replay.js';
import { withoutPictures } from './change-sightings.js';
import { footageChange } from './footage-change.js';
import type { FootageChange, FrameStats, Moment } from './records.js';

export interface DryRunAlert extends Pick<FootageChange, 'camera' | 'kind' | 'caption' | 'severity' | 'zone'> {
  readonly v: 1;
  readonly id: string;
  readonly type: AlertIntent['type'];
  /** the frame that caused it */
  readonly moment: Moment;
  /** id of the change */
  readonly change: string;
  /** alerts that a cool-down suppressed before this one */
  readonly suppressed: number;
}

/** The result for one camera. */
export interface DryRun {
  readonly camera: string;
  readonly frames: number;
  readonly examined: number;
  /** time that the frames cover, the gaps excluded */
  readonly seconds: number;
  readonly alerts: readonly DryRunAlert[];
  /** null if the frames cover no time */
  readonly alertsPerDay: number | null;
  /** alerts that a cool-down suppressed */
  readonly suppressed: number;
  readonly changes: readonly FootageChange[];
  /** of the last frame, 0..1; null: that of the bundle, as in the recorded run */
  readonly threshold: number | null;
  /** consequences of the alarm budget of the settings; null: they have none */
  readonly budget: AlarmBudget | null;
  /**
   * frames whose confidence reaches the threshold, while the recorded run had a higher one: they have no regions, so
   * that they cause no alert here. If there are some, only decoding again with this threshold gives the real number.
   */
  readonly undecided: number;
}

const DAY_S = 86_400;
/** Snapshots may come every few hours: a longer pause than this many usual intervals is a time without frames. */
const PAUSE_INTERVALS = 4;

/** The part of the camera's bundle that a replay needs. */
export interface ReplayedBundle {
  /** for the alarm budget */
  readonly points: readonly OperatingPoint[];
  /** its own threshold, 0..1; null: unknown */
  readonly threshold: number | null;
}

export class CameraReplay {
  readonly #camera: string;
  readonly #settings: CameraSettings;
  readonly #rules: ChangeRules;
  readonly #bundle: ReplayedBundle;
  readonly #baseline: BaselineReplay;
  readonly #moments = new Map<number, Moment>();
  readonly #changes = new Map<string, FoundChange>();
  readonly #alerts: DryRunAlert[] = [];
  #state: TrackerState = initialTrackerState();
  #last: FrameStats | null = null;
  #intervalMs: number | null = null;
  #counts: ConfidenceCounts | undefined;
  /** seconds from each frame to the next, the gaps excluded */
  readonly #intervals: number[] = [];
  #threshold: number | null = null;
  #examined = 0;
  #suppressed = 0;
  #undecided = 0;

  constructor(camera: string, settings: CameraSettings, bundle: ReplayedBundle) {
    this.#camera = camera;
    this.#settings = settings;
    this.#bundle = bundle;
    this.#rules = rulesOf(camera, settings);
    this.#baseline = new BaselineReplay(settings.before);
  }

  /** @throws ScenedeltaError 'invalid-value' */
  take(frame: FrameStats): void {
    this.#assertSameMode(frame);
    const { time, reset } = frame;
    const gap = frame.gap ?? (reset === 'before' && this.#last !== null);
    this.#moments.set(time, { at: frame.at, file: frame.file, seconds: frame.seconds });
    if (frame.examined) this.#examined++;
    const last = this.#last && { at: this.#last.time };
    if (last !== null && !gap) this.#intervals.push((time - last.at) / 1000);
    const { points } = this.#bundle;
    const decided = frameThreshold(this.#settings, { ...this.#history(), last }, time, points);
    this.#intervalMs = decided.intervalMs;
    this.#threshold = decided.threshold;
    this.#counts = countConfidence(this.#counts, frame.finding, points);
    this.#assertKnownThreshold(frame);
    if (reset === 'before' || reset === 'both') this.#reset(time);
    this.#observe(frame);
    if (reset === 'after' || reset === 'both') {
      this.#reset(time);
      this.#baseline.becomesBefore(frame);
    }
    if (gap) this.#state = forgetSettled(this.#state);
    this.#last = frame;
  }

  finish(): DryRun {
    const momentOf = (time: number) => this.#momentOf(time);
    const seconds = this.#coveredSeconds();
    const days = seconds / DAY_S;
    return {
      camera: this.#camera,
      frames: this.#moments.size,
      examined: this.#examined,
      seconds,
      alerts: this.#alerts,
      alertsPerDay: days === 0 ? null : this.#alerts.length / days,
      suppressed: this.#suppressed,
      changes: [...this.#changes.values()].map((change) => footageChange(change, momentOf, withoutPictures(change))),
      threshold: this.#threshold,
      budget: this.#budget(),
      undecided: this.#undecided,
    };
  }

  /** The evidence is about one baseline; against another one the frames may differ by other things. */
  #assertSameMode({ before }: FrameStats): void {
    if (before == null || before.mode === this.#settings.before) return;
    throw new ScenedeltaError(
      'invalid-value',
      `the settings of ${this.#camera} have before "${this.#settings.before}", expected "${before.mode}", which the ` +
        'frames were compared with; decode the recording again to compare them with something else',
    );
  }

  /** The run without a threshold had that of the bundle, which the evidence does not name. */
  #assertKnownThreshold({ threshold }: FrameStats): void {
    if (threshold === null || this.#threshold !== null || this.#bundle.threshold !== null) return;
    throw new ScenedeltaError(
      'invalid-value',
      `the frames of ${this.#camera} were compared with the threshold ${threshold}, and the settings have none: ` +
        'expected threshold or alarms_per_day, or the bundle of the run in MODELS_DIR',
    );
  }

  #coveredSeconds(): number {
    const sorted = [...this.#intervals].sort((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const longest = Math.max(this.#settings.gap_s, PAUSE_INTERVALS * usual);
    return this.#intervals.reduce((sum, seconds) => sum + (seconds > longest ? 0 : seconds), 0);
  }

  #budget(): AlarmBudget | null {
    const { alarms_per_day, snapshot } = this.#settings;
    if (alarms_per_day === null) return null;
    return describeBudget({ alarms_per_day, snapshot }, this.#history(), this.#bundle.points);
  }

  #history() {
    return { intervalMs: this.#intervalMs, counts: this.#counts };
  }

  #reset(time: number): void {
    const { state, changes } = resetBaseline(this.#state, time);
    this.#state = state;
    this.#baseline.reset();
    this.#keep(changes);
  }

  #observe(frame: FrameStats): void {
    const evidence = this.#baseline.findingOf(frame);
    if (evidence === null) return;
    const { time: at, number } = frame;
    const { finding } = filterFinding(this.#judged(evidence, frame), this.#settings);
    const comparisonId = derivedId('cmp', at, `${this.#camera}/${number}`);
    const step = advance(this.#state, observationOf(finding, { comparisonId, at, frame: number }), this.#rules);
    this.#state = step.state;
    this.#baseline.afterStep(step.hold);
    this.#suppressed += step.suppressed;
    this.#keep(step.changes);
    for (const alert of step.alerts) this.#alerts.push(this.#alertOf(alert));
  }

  /** The finding by the threshold of the settings. A tampered view has no threshold. */
  #judged(finding: Finding, frame: FrameStats): Finding {
    const { verdict, confidence, nuisance } = finding;
    const threshold = this.#threshold ?? (frame.threshold === null ? null : this.#bundle.threshold);
    if (threshold === null || verdict === 'tamper') return finding;
    if (verdict !== 'change') {
      if (frame.examined && confidence >= threshold) this.#undecided++;
      return finding;
    }
    if (confidence >= threshold) return finding;
    const { statements: _statements, facts: _facts, ...rest } = finding;
    return { ...rest, verdict: nuisance.length > 0 ? 'nuisance' : 'none', kind: 'none', regions: [] };
  }

  #keep(updates: readonly ChangeUpdate[]): void {
    for (const { change } of updates) this.#changes.set(change.id, change);
  }

  #alertOf({ id, type, change, suppressedCount, at }: AlertIntent): DryRunAlert {
    const { camera, kind, caption, severity, zone } = change;
    const moment = this.#momentOf(at);
    return {
      v: 1,
      camera,
      id,
      type,
      moment,
      kind,
      caption,
      severity,
      zone,
      change: change.id,
      suppressed: suppressedCount,
    };
  }

  #momentOf(time: number): Moment {
    return this.#moments.get(time) ?? { at: null, file: this.#last?.file ?? '', seconds: 0 };
  }
}
