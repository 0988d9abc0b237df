/** What the reducer goes by: the settings of one camera, with their meaning worked out. Plain JSON, times in ms. */
import type { AlertSettings, Schedule, SeverityRule } from '../alert-settings.js';
import type { Severity } from '../change.js';

export interface AlertRules {
  readonly camera: string;
  /** What "before" is: the frame before, one fixed frame, or the learned background. */
  readonly before: 'previous' | 'reference' | 'memory';
  readonly confirmFrames: number;
  readonly persistMs: number;
  /** after which what stays is part of what is normal, and so is a view that stays tampered with; null: never */
  readonly settleMs: { readonly scene: number | null; readonly tamper: number | null };
  readonly cooldownMs: number;
  readonly minSeverity: Severity;
  /** the first that applies decides */
  readonly severity: readonly SeverityRule[];
  readonly schedule: Schedule | null;
  /** epoch ms; until then nothing is alerted */
  readonly suspendUntil: number | null;
  /** whether there is anybody to alert */
  readonly alerting: boolean;
}

/** The settings as far as they matter here. */
export interface RuledSettings {
  readonly before: AlertRules['before'];
  readonly zones: readonly { readonly id: string; readonly severity: Severity | null }[];
  readonly schedule: Schedule | null;
  /** ISO time */
  readonly suspend_until: string | null;
  readonly alerts: AlertSettings;
}

const SECOND = 1_000;

export function rulesOf(camera: string, settings: RuledSettings): AlertRules {
  const { alerts } = settings;
  // After the rules, so that these can make exceptions within a zone.
  const zones = settings.zones.flatMap(({ id, severity }) =>
    severity === null ? [] : [{ zone: id, severity }],
  );
  return {
    camera,
    before: settings.before,
    confirmFrames: alerts.confirm_frames,
    persistMs: alerts.persist_s * SECOND,
    settleMs: settlingOf(settings.before, alerts.settle_s * SECOND),
    cooldownMs: alerts.cooldown_s * SECOND,
    minSeverity: alerts.min_severity,
    severity: [...alerts.severity, ...zones],
    schedule: settings.schedule,
    suspendUntil: settings.suspend_until === null ? null : Date.parse(settings.suspend_until),
    alerting: alerts.callback_url !== null,
  };
}

function settlingOf(before: AlertRules['before'], settleMs: number): AlertRules['settleMs'] {
  if (before === 'reference') return { scene: null, tamper: null };
  // The frame before is to be a recent one: what is confirmed belongs to it at once, but not a blocked lens, which shows nothing.
  return { scene: before === 'previous' ? 0 : settleMs, tamper: settleMs };
}
