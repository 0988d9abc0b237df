/**
 * Dry run of rules: the alerts that a recording would have caused under other zones, thresholds and rules, from the
 * recorded evidence of its frames (`FrameStats`), without decoding the recording again. Pure.
 */
import { invalidValue } from '../../base/errors.js';
import { derivedId } from '../../base/ids.js';
import { forgetSettled } from '../../camera/changes/advance.js';
import { type ChangeRules, rulesOf } from '../../camera/changes/rules.js';
import { foldFrame } from '../../camera/fold/fold.js';
import { describeBudget, type FalseAlarmBudget } from '../../camera/settings/alarm-budget.js';
import { recordedCamera, type StoredCamera } from '../../camera/settings/camera.js';
import type { OperatingPoint } from '../../camera/settings/operating-points.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type CameraState, initialCameraState } from '../../camera/state/state.js';
import type { AlertIntent, FoundChange } from '../../schemas/change.js';
import type { Finding } from '../../schemas/comparison.js';
import { statedAt } from '../../schemas/shown-change.js';
import type { FootageChange, FrameStats, Moment } from '../records.js';
import { withoutPictures } from '../run/change-sightings.js';
import { footageChange } from '../run/footage-change.js';
import { RecordedEvidence } from './recorded-evidence.js';

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
  /** consequences of the false-alarm budget of the settings; null: they have none */
  readonly budget: FalseAlarmBudget | null;
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
  /** for the false-alarm budget */
  readonly points: readonly OperatingPoint[];
  /** its threshold for the camera, 0..1; null: unknown */
  readonly threshold: number | null;
}

/**
 * @param stats in the order of time per camera; several cameras may alternate
 * @returns one result per camera, in the order of their first frames
 * @throws ScenedeltaError 'invalid-value' if the settings choose another mode of "before" than the recorded run had
 */
export async function dryRun(
  stats: Iterable<FrameStats> | AsyncIterable<FrameStats>,
  settings: CameraSettings,
  bundle: ReplayedBundle,
): Promise<DryRun[]> {
  const replays = new Map<string, CameraReplay>();
  for await (const frame of stats) {
    const replay = replays.get(frame.camera) ?? new CameraReplay(frame.camera, settings, bundle);
    replays.set(frame.camera, replay);
    replay.take(frame);
  }
  return [...replays.values()].map((replay) => replay.finish());
}

/** Replay of one camera's recorded evidence under other settings. */
export class CameraReplay {
  readonly #camera: StoredCamera;
  readonly #rules: ChangeRules;
  readonly #bundle: ReplayedBundle;
  readonly #evidence: RecordedEvidence;
  readonly #moments = new Map<number, Moment>();
  readonly #changes = new Map<string, FoundChange>();
  readonly #alerts: DryRunAlert[] = [];
  #state: CameraState = initialCameraState();
  #last: FrameStats | null = null;
  /** seconds from each frame to the next, the gaps excluded */
  readonly #intervals: number[] = [];
  #threshold: number | null = null;
  #examined = 0;
  #suppressed = 0;
  #undecided = 0;

  constructor(camera: string, settings: CameraSettings, bundle: ReplayedBundle) {
    this.#camera = recordedCamera(camera, settings);
    this.#bundle = bundle;
    this.#rules = rulesOf(camera, settings);
    this.#evidence = new RecordedEvidence(settings.before);
  }

  /** @throws ScenedeltaError 'invalid-value' */
  take(frame: FrameStats): void {
    this.#assertSameMode(frame);
    const { time: at, number } = frame;
    const { gap = false } = frame;
    this.#moments.set(at, { at: frame.at, file: frame.file, seconds: frame.seconds });
    if (frame.examined) this.#examined++;
    if (this.#last !== null && !gap) this.#intervals.push((at - this.#last.time) / 1000);
    const evidence = this.#evidence.of(frame, this.#state);
    const folded = foldFrame({ ...this.#state, frames: number }, evidence, {
      camera: this.#camera,
      at,
      events: [],
      rules: this.#rules,
      comparisonId: derivedId('cmp', at, `${this.#camera.id}/${number}`),
      points: this.#bundle.points,
      bundleThreshold: this.#bundle.threshold,
    });
    this.#threshold = folded.threshold;
    this.#assertKnownThreshold(frame);
    if (this.#isUndecided(frame, evidence.finding)) this.#undecided++;
    for (const { change } of folded.changes) this.#changes.set(change.id, change);
    for (const alert of folded.alerts) this.#alerts.push(this.#alertOf(alert));
    this.#suppressed += folded.suppressed;
    const { tracker } = folded.state;
    this.#state = { ...folded.state, tracker: gap ? forgetSettled(tracker) : tracker };
    this.#last = frame;
  }

  finish(): DryRun {
    const momentOf = (time: number) => this.#momentOf(time);
    const seconds = this.#coveredSeconds();
    const days = seconds / DAY_S;
    return {
      camera: this.#camera.id,
      frames: this.#moments.size,
      examined: this.#examined,
      seconds,
      alerts: this.#alerts,
      alertsPerDay: days === 0 ? null : this.#alerts.length / days,
      suppressed: this.#suppressed,
      changes: [...this.#changes.values()].map((change) =>
        footageChange(change, momentOf, withoutPictures(change), this.#camera.settings.locale),
      ),
      threshold: this.#threshold,
      budget: this.#budget(),
      undecided: this.#undecided,
    };
  }

  /** The evidence is about one baseline; against another one the frames may differ by other things. */
  #assertSameMode({ before }: FrameStats): void {
    const { id, settings } = this.#camera;
    if (before == null || before.mode === settings.before) return;
    throw invalidValue(
      `the settings of ${id} have before "${settings.before}", expected "${before.mode}", which the ` +
        'frames were compared with; decode the recording again to compare them with something else',
    );
  }

  /** The run without a threshold had that of the bundle, which the evidence does not name. */
  #assertKnownThreshold({ threshold }: FrameStats): void {
    if (threshold === null || this.#threshold !== null || this.#bundle.threshold !== null) return;
    throw invalidValue(
      `the frames of ${this.#camera.id} were compared with the threshold ${threshold}, and the settings have none: ` +
        'expected threshold or false_alarms_per_day, or the bundle of the run in MODELS_DIR',
    );
  }

  #coveredSeconds(): number {
    const sorted = [...this.#intervals].sort((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const longest = Math.max(this.#camera.settings.gap_s, PAUSE_INTERVALS * usual);
    return this.#intervals.reduce((sum, seconds) => sum + (seconds > longest ? 0 : seconds), 0);
  }

  #budget(): FalseAlarmBudget | null {
    const { false_alarms_per_day, snapshot } = this.#camera.settings;
    if (false_alarms_per_day === null) return null;
    return describeBudget({ false_alarms_per_day, snapshot }, this.#state, this.#bundle.points);
  }

  /** Whether the frame would show a change, whose regions the recorded run did not keep. */
  #isUndecided({ examined, threshold: made }: FrameStats, finding: Finding | null): boolean {
    const threshold = this.#threshold ?? (made === null ? null : this.#bundle.threshold);
    if (!examined || finding === null || threshold === null) return false;
    return finding.verdict !== 'change' && finding.verdict !== 'tamper' && finding.confidence >= threshold;
  }

  #alertOf({ id, type, change, suppressedCount, at }: AlertIntent): DryRunAlert {
    const { camera, kind, severity, zone } = change;
    const { caption } = statedAt(type, change);
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
