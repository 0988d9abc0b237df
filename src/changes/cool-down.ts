/**
 * Who is told, and what is kept quiet. A place that was alerted is quiet for the cool-down, for the same zone and kind; a more severe
 * change breaks through. An alert that is kept quiet never renews the cool-down: it is counted, and the next alert of the place says
 * how many. A cool-down begins with an alert under way and is consumed by its delivery; a delivery that failed gives it back.
 */
import {
  type AlertIntent,
  type AlertType,
  type CameraEvent,
  compareSeverity,
  type FoundChange,
} from '../schemas/change.js';
import { derivedId } from './identity.js';
import { isSameLocation } from './places.js';
import type { ChangeRules } from './rules.js';
import type { Cooldown } from './state.js';

/** Beyond it the oldest place is forgotten, and what it kept quiet is counted at the next oldest. */
export const MAX_COOLDOWNS = 64;

export interface AlertDecision {
  readonly quiet: readonly Cooldown[];
  readonly serial: number;
  /** null: kept quiet */
  readonly alert: AlertIntent | null;
}

/** @param at epoch ms, of the observation */
export function decideAlert(
  type: Exclude<AlertType, 'change.reverted'>,
  change: FoundChange,
  at: number,
  known: { readonly quiet: readonly Cooldown[]; readonly serial: number },
  rules: Pick<ChangeRules, 'camera' | 'cooldownMs'>,
): AlertDecision {
  const places = known.quiet.filter(
    ({ zone, kind, regions }) =>
      zone === change.zone && kind === change.kind && isSameLocation(regions, change.regions),
  );
  const quieting = places.find(
    (place) =>
      place.delivery !== 'failed' &&
      at - place.at < rules.cooldownMs &&
      compareSeverity(change.severity, place.severity) <= 0,
  );
  if (quieting !== undefined) {
    const counted = { ...quieting, suppressed: quieting.suppressed + 1 };
    const quiet = known.quiet.map((one) => (one === quieting ? counted : one));
    return { quiet, serial: known.serial, alert: null };
  }
  const place = places.at(-1);
  const serial = place === undefined ? known.serial + 1 : known.serial;
  const key = place?.key ?? [rules.camera, change.zone ?? '', change.kind, serial].join('/');
  const suppressedCount = place?.suppressed ?? 0;
  // A change is told again only where it is more severe, which two frames of one moment may both find.
  const id = derivedId('alr', at, `${change.id}\n${type}\n${change.severity}`);
  const begun: Cooldown = {
    key,
    zone: change.zone,
    kind: change.kind,
    regions: change.regions,
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
    quiet: bounded([...known.quiet.filter((one) => one !== place), begun]),
    serial,
    alert: { id, type, change: alerted, suppressedCount, cooldownKey: key, at },
  };
}

/** Of an alert and what had been kept quiet before it: how many nobody has been told of. What overtook an alert told its change. */
const UNTOLD = {
  'alert.delivered': () => 0,
  'alert.overtaken': (suppressed: number) => suppressed,
  'alert.failed': (suppressed: number) => suppressed + 1,
} as const;

/** The places after what became of an alert. */
export function applyDelivery(
  quiet: readonly Cooldown[],
  news: Extract<CameraEvent, { alertId: string }>,
): Cooldown[] {
  return quiet.map((place) => {
    if (place.key !== news.cooldownKey) return place;
    const delivery = news.type === 'alert.failed' ? ('failed' as const) : ('delivered' as const);
    return {
      ...place,
      // A later alert of the place may be on its way by now; then only the count is news.
      delivery: place.alertId === news.alertId ? delivery : place.delivery,
      suppressed: place.suppressed + UNTOLD[news.type](news.suppressedCount),
    };
  });
}

function bounded(quiet: Cooldown[]): Cooldown[] {
  const [oldest, next, ...rest] = quiet;
  if (quiet.length <= MAX_COOLDOWNS || oldest === undefined || next === undefined) return quiet;
  return [{ ...next, suppressed: next.suppressed + oldest.suppressed }, ...rest];
}
