/** Rules of the reducer, from the settings of one camera. Plain JSON; durations in ms. */
import type { CameraSettings, Schedule, SeverityRule } from '../cameras/settings.js';
import type { Severity } from '../schemas/change.js';

export interface ChangeRules {
  readonly camera: string;
  readonly before: CameraSettings['before'];
  readonly confirmFrames: number;
  readonly persistMs: number;
  /** time after which a change, or a tampered view, settles; null: never */
  readonly settleMs: { readonly scene: number | null; readonly tamper: number | null };
  readonly cooldownMs: number;
  readonly minSeverity: Severity;
  /** the first matching rule decides */
  readonly severity: readonly SeverityRule[];
  readonly schedule: Schedule | null;
  /** epoch ms; no alerts before this time */
  readonly suspendUntil: number | null;
  /** false without an address for alerts */
  readonly alerting: boolean;
}

type RuleSettings = Pick<CameraSettings, 'before' | 'zones' | 'schedule' | 'suspend_until' | 'alerts' | 'memory'>;

const SECOND = 1_000;

export function rulesOf(camera: string, settings: RuleSettings): ChangeRules {
  const { alerts } = settings;
  // Zones come after the rules, so that a rule can make an exception within a zone.
  const zones = settings.zones.flatMap(({ id, severity }) => (severity === null ? [] : [{ zone: id, severity }]));
  return {
    camera,
    before: settings.before,
    confirmFrames: alerts.confirm_frames,
    persistMs: alerts.persist_s * SECOND,
    settleMs: settleTimes(settings.before, settings.memory.absorb_s * SECOND),
    cooldownMs: alerts.cooldown_s * SECOND,
    minSeverity: alerts.min_severity,
    severity: [...alerts.severity_rules, ...zones],
    schedule: settings.schedule,
    suspendUntil: settings.suspend_until === null ? null : Date.parse(settings.suspend_until),
    alerting: alerts.callback_url !== null,
  };
}

function settleTimes(before: ChangeRules['before'], absorbMs: number): ChangeRules['settleMs'] {
  if (before === 'reference') return { scene: null, tamper: null };
  // A confirmed change settles at once, so that the previous frame is recent. A blocked lens shows nothing, so it
  // waits.
  return { scene: before === 'previous' ? 0 : absorbMs, tamper: absorbMs };
}
