/** What the reducer goes by: the settings of one camera, with their meaning worked out. Plain JSON, times in ms. */
import type { ChangeKind, Severity } from '../schemas/change.js';

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Local time of the camera. */
export interface TimeWindow {
  /** on which it begins */
  readonly days: readonly (typeof DAYS)[number][];
  /** HH:MM */
  readonly from: string;
  /** HH:MM, exclusive; not after `from`: on the next day */
  readonly to: string;
}
export interface Schedule {
  /** IANA name */
  readonly timezone: string;
  readonly windows: readonly TimeWindow[];
}

/** Applies where every condition that it names holds. */
export interface SeverityRule {
  readonly zone?: string;
  readonly kind?: ChangeKind;
  /** share of the frame */
  readonly min_area?: number;
  /** in the schedule's time zone, UTC without one */
  readonly during?: readonly TimeWindow[];
  readonly severity: Severity;
}

export interface ChangeRules {
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

/** The settings as far as they matter here; what each means to a user is said where they are defined (src/cameras/settings.ts). */
export interface RuledSettings {
  readonly before: ChangeRules['before'];
  readonly zones: readonly { readonly id: string; readonly severity: Severity | null }[];
  readonly schedule: Schedule | null;
  /** ISO time */
  readonly suspend_until: string | null;
  readonly alerts: {
    readonly callback_url: string | null;
    readonly confirm_frames: number;
    readonly persist_s: number;
    readonly cooldown_s: number;
    readonly min_severity: Severity;
    readonly severity_rules: readonly SeverityRule[];
  };
  readonly memory: { readonly absorb_s: number };
}

const SECOND = 1_000;

export function rulesOf(camera: string, settings: RuledSettings): ChangeRules {
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
    settleMs: settlingOf(settings.before, settings.memory.absorb_s * SECOND),
    cooldownMs: alerts.cooldown_s * SECOND,
    minSeverity: alerts.min_severity,
    severity: [...alerts.severity_rules, ...zones],
    schedule: settings.schedule,
    suspendUntil: settings.suspend_until === null ? null : Date.parse(settings.suspend_until),
    alerting: alerts.callback_url !== null,
  };
}

function settlingOf(before: ChangeRules['before'], settleMs: number): ChangeRules['settleMs'] {
  if (before === 'reference') return { scene: null, tamper: null };
  // The frame before is to be a recent one: what is confirmed belongs to it at once, but not a blocked lens, which shows nothing.
  return { scene: before === 'previous' ? 0 : settleMs, tamper: settleMs };
}
