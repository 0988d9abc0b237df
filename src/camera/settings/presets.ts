/**
 * Presets of alerts: a name for a set of severity rules, so that a camera is set up with one word. They are stored as
 * what they stand for. Pure.
 */
import { invalidValue } from '../../base/errors.js';
import { isObject } from '../../base/is-object.js';
import type { Severity } from '../../schemas/kinds.js';
import { DAYS } from './schedule.js';
import type { SeverityRule } from './severity-rule.js';

export const PRESETS = [
  'people',
  'people_at_night',
  'things_left_or_taken',
  'vehicles',
  'everything',
  'nothing',
] as const;
export type Preset = (typeof PRESETS)[number];

const NIGHT = [{ days: [...DAYS], from: '22:00', to: '06:00' }];
const OBJECTS = ['object_left', 'object_removed'] as const;
const objects = (severity: Severity): SeverityRule[] => OBJECTS.map((kind) => ({ kind, severity }));
/** Below the least severity of alerts; an object that is left or removed would otherwise be raised above it. */
const REST: readonly SeverityRule[] = [...objects('info'), { severity: 'info' }];
/** Tampering is alerted by every preset but `nothing`. */
const only = (...rules: SeverityRule[]): SeverityRule[] => [{ kind: 'tamper', severity: 'high' }, ...rules, ...REST];

const RULES: Readonly<Record<(typeof PRESETS)[number], readonly SeverityRule[]>> = {
  people: only({ when: 'a person has appeared', severity: 'medium' }),
  people_at_night: only({ when: 'a person has appeared', during: NIGHT, severity: 'high' }),
  things_left_or_taken: [{ kind: 'tamper', severity: 'high' }, ...objects('high'), { severity: 'info' }],
  vehicles: only(
    { when: 'a vehicle has appeared', severity: 'medium' },
    { when: 'a vehicle has left', severity: 'medium' },
  ),
  everything: [],
  nothing: REST,
};

const alertsOf = (preset: Preset) => ({ severity_rules: RULES[preset], min_severity: 'low' }) as const;
const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** @returns the preset that the alerts are those of; null: they have rules of their own */
export const presetOf = ({
  alerts,
}: {
  readonly alerts: { readonly severity_rules: readonly SeverityRule[]; readonly min_severity: Severity };
}): Preset | null =>
  PRESETS.find((name) => {
    const { severity_rules, min_severity } = alertsOf(name);
    return isEqual(severity_rules, alerts.severity_rules) && min_severity === alerts.min_severity;
  }) ?? null;

/**
 * @param body settings of a request, or a merge patch of them
 * @returns the settings with the alerts of `preset` in its place; unchanged without one
 * @throws ScenedeltaError 'invalid-value' if there is no such preset, or other rules are given beside it
 */
export function withPreset(body: unknown): unknown {
  if (!isObject(body) || !('preset' in body)) return body;
  const { preset, ...rest } = body as Record<string, unknown>;
  if (preset === null) return rest;
  const name = PRESETS.find((one) => one === preset);
  if (name === undefined) {
    throw invalidValue(`preset is ${JSON.stringify(preset)}, expected one of ${PRESETS.join(', ')}`, 'preset');
  }
  const { alerts = {} } = rest;
  if (!isObject(alerts)) return rest;
  const given = new Map(Object.entries(alerts));
  for (const [member, value] of Object.entries(alertsOf(name))) {
    if (!given.has(member) || isEqual(given.get(member), value)) continue;
    throw invalidValue(`preset is ${name} beside another alerts.${member}, expected one of the two`, 'preset');
  }
  return { ...rest, alerts: { ...alerts, ...alertsOf(name) } };
}
