/** Notes for the person who saves settings of a camera, about all that keeps them from alerting. Pure. */
import { isAboutVisits, readRuleSentence } from '../../language/people/rule-sentence.js';
import { compareSeverity } from '../../schemas/kinds.js';
import { DAYS, type TimeWindow } from './schedule.js';
import type { CameraSettings } from './settings.js';
import type { SeverityRule } from './severity-rule.js';

export interface AlertNote {
  /** as 'alerts.severity_rules.2' */
  readonly field: string;
  readonly detail: string;
}

/** Receivers of a camera's messages. */
export interface AlertReceivers {
  /** endpoints that get alerts of changes of the camera, and those that get alerts of its visits */
  readonly ofChanges: number;
  readonly ofVisits: number;
}

const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/** @param now epoch ms */
export function alertNotes(settings: CameraSettings, receivers: AlertReceivers, now: number): AlertNote[] {
  const { alerts, suspend_until } = settings;
  const called = alerts.callback_url === null ? 0 : 1;
  const rules = alerts.severity_rules;
  const isMuted = ({ severity }: SeverityRule) => compareSeverity(severity, alerts.min_severity) < 0;
  const last = rules.findIndex(holdsAlways);
  const notes = rules.flatMap((rule, i): AlertNote[] => {
    const detail =
      last !== -1 && i > last
        ? `is never reached: rule ${last + 1} holds for every change`
        : isMuted(rule)
          ? null
          : neverHolds(rule, settings, receivers.ofVisits + called);
    return detail === null ? [] : [{ field: `alerts.severity_rules.${i}`, detail: `Rule ${i + 1} ${detail}` }];
  });
  if (last !== -1 && rules.slice(0, last + 1).every(isMuted)) {
    const detail = `No change is alerted: every rule is below min_severity (${alerts.min_severity})`;
    notes.push({ field: 'alerts.severity_rules', detail });
  }
  if (suspend_until !== null && Date.parse(suspend_until) > now) {
    notes.push({ field: 'suspend_until', detail: `Nothing is alerted before ${suspend_until}` });
  }
  if (receivers.ofChanges + called === 0) {
    const detail =
      'Nobody is told: no endpoint that is enabled gets alerts of this camera, and alerts.callback_url is null';
    notes.push({ field: 'alerts.callback_url', detail });
  }
  return notes.map(({ field, detail }) => ({ field, detail: `${detail}.` }));
}

const holdsAlways = ({ severity: _severity, ...conditions }: SeverityRule): boolean =>
  Object.keys(conditions).length === 0;

/** @returns why a rule never alerts; null: it may */
function neverHolds(rule: SeverityRule, { zones, schedule, alerts }: CameraSettings, ofVisits: number): string | null {
  const { zone, kind, during, when } = rule;
  const type = zones.find(({ id }) => id === zone)?.type;
  if (type !== undefined && type !== 'include') {
    return `never holds: changes in the zone ${zone} (${type}) do not count`;
  }
  const read = when === undefined ? null : readRuleSentence(when, zones);
  const said = read !== null && 'said' in read ? read.said : null;
  const isObject = [kind, said?.kind].some((one) => one === 'object_left' || one === 'object_removed');
  if (isObject && alerts.left_after_s === 0) return 'never holds: with left_after_s 0 no object counts as left';
  if (said !== null && isAboutVisits(said) && ofVisits === 0)
    return 'is about visits, and no endpoint gets visit.alerted';
  if (during === undefined) return null;
  if (schedule === null) {
    const [{ from, to } = { from: '', to: '' }] = during;
    return `is in UTC (${from} to ${to}): a schedule names the time zone`;
  }
  const allowed = minutesOf(schedule.windows);
  const isOpen = minutesOf(during).some((inside, minute) => inside && allowed[minute]);
  return isOpen ? null : 'never alerts: the schedule has none of its times';
}

/** @returns per minute of the week whether it lies in one of the windows */
function minutesOf(windows: readonly TimeWindow[]): boolean[] {
  const inside = Array.from({ length: WEEK_MINUTES }, () => false);
  const minuteOf = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
  for (const { days, from, to } of windows) {
    const length = (minuteOf(to) - minuteOf(from) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
    for (const day of days) {
      const start = DAYS.indexOf(day) * DAY_MINUTES + minuteOf(from);
      for (let i = 0; i < length; i++) inside[(start + i) % WEEK_MINUTES] = true;
    }
  }
  return inside;
}
