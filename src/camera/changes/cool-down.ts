/**
 * Cool-downs of alerts. An alert starts the cool-down of its location, zone and kind, in which further alerts are
 * suppressed and counted; only a higher severity breaks through. A suppressed alert does not renew the cool-down, and
 * the next alert carries the count. An alert that is under way counts as delivered, so that a slow receiver gets no
 * alert per frame; a failed delivery ends the cool-down.
 */
import { derivedId } from '../../base/ids.js';
import type { AlertIntent, CameraEvent, FoundChange } from '../../schemas/change.js';
import { compareSeverity } from '../../schemas/kinds.js';
import { lastRegions } from '../../schemas/shown-change.js';
import { isSameLocation } from './locations.js';
import type { ChangeRules } from './rules.js';
import type { Cooldown, TrackerState } from './state.js';

/** Bound of the state's size. Beyond it the oldest cool-down is dropped, and the next oldest takes over its count. */
const MAX_COOLDOWNS = 64;

export type NumberedCooldowns = Pick<TrackerState, 'cooldowns' | 'serial'>;

interface AlertDecision {
  readonly next: NumberedCooldowns;
  /** null: suppressed */
  readonly alert: AlertIntent | null;
}

/** @param at capture time of the observation, epoch ms */
export function decideAlert(
  type: 'change.opened' | 'change.escalated',
  change: FoundChange,
  at: number,
  { cooldowns, serial }: NumberedCooldowns,
  rules: Pick<ChangeRules, 'camera' | 'cooldownMs'>,
): AlertDecision {
  const location = lastRegions(change);
  const here = cooldowns.filter(
    ({ zone, kind, regions }) => zone === change.zone && kind === change.kind && isSameLocation(regions, location),
  );
  const suppressing = here.find(
    (cooldown) =>
      cooldown.delivery !== 'failed' &&
      at - cooldown.at < rules.cooldownMs &&
      compareSeverity(change.severity, cooldown.severity) <= 0,
  );
  if (suppressing !== undefined) {
    const counted = { ...suppressing, suppressed: suppressing.suppressed + 1 };
    const counting = cooldowns.map((one) => (one === suppressing ? counted : one));
    return { next: { cooldowns: counting, serial }, alert: null };
  }
  const replaced = here.at(-1);
  const nextSerial = replaced === undefined ? serial + 1 : serial;
  const key = replaced?.key ?? [rules.camera, change.zone ?? '', change.kind, nextSerial].join('/');
  const suppressedCount = replaced?.suppressed ?? 0;
  // The severity is part of the name, because two frames of one capture time may both raise it.
  const id = derivedId('alr', at, `${change.id}\n${type}\n${change.severity}`);
  const started: Cooldown = {
    key,
    zone: change.zone,
    kind: change.kind,
    regions: location,
    alertId: id,
    at,
    severity: change.severity,
    delivery: 'under way',
    suppressed: 0,
  };
  const alerted: FoundChange = {
    ...change,
    alerted_at: new Date(at).toISOString(),
    suppressed_count: suppressedCount,
  };
  return {
    next: { cooldowns: bounded([...cooldowns.filter((one) => one !== replaced), started]), serial: nextSerial },
    alert: { id, type, change: alerted, suppressedCount, cooldownKey: key, at },
  };
}

/** Alert of the end of a change. No cool-down applies to it. @param at capture time of the observation, epoch ms */
export const revertedAlert = (change: FoundChange, at: number): AlertIntent => ({
  id: derivedId('alr', at, `${change.id}\nchange.reverted`),
  type: 'change.reverted',
  change,
  suppressedCount: 0,
  cooldownKey: null,
  at,
});

/**
 * Number of alerts that the next one has to count, from the number that the finished one carried. An overtaken alert
 * was replaced by a later alert of the same change, so it is not lost itself.
 */
const STILL_SUPPRESSED = {
  'alert.delivered': () => 0,
  'alert.overtaken': (carried: number) => carried,
  'alert.failed': (carried: number) => carried + 1,
} as const;

/** The cool-downs after the outcome of a delivery. */
export function applyDelivery(
  cooldowns: readonly Cooldown[],
  event: Extract<CameraEvent, { alertId: string }>,
): Cooldown[] {
  return cooldowns.map((cooldown) => {
    if (cooldown.key !== event.cooldownKey) return cooldown;
    const delivery = event.type === 'alert.failed' ? ('failed' as const) : ('delivered' as const);
    return {
      ...cooldown,
      // A later alert of the location may be under way already; then only the count changes.
      delivery: cooldown.alertId === event.alertId ? delivery : cooldown.delivery,
      suppressed: cooldown.suppressed + STILL_SUPPRESSED[event.type](event.suppressedCount),
    };
  });
}

function bounded(cooldowns: Cooldown[]): Cooldown[] {
  const [oldest, next, ...rest] = cooldowns;
  if (cooldowns.length <= MAX_COOLDOWNS || oldest === undefined || next === undefined) return cooldowns;
  return [{ ...next, suppressed: next.suppressed + oldest.suppressed }, ...rest];
}
