/** Severity of a change, from rules over zone, kind, area and time of day; the caption plays no part. */
import type { ChangeKind, ChangeRegion, Severity } from '../schemas/change.js';
import type { ChangeRules } from './rules.js';
import { inWindows } from './schedule.js';

/**
 * @param at epoch ms
 * @returns the severity of the first rule whose conditions all hold; without one 'high' for tampering and 'medium'
 *   otherwise
 */
export function severityOf(
  change: { readonly kind: ChangeKind; readonly regions: readonly ChangeRegion[] },
  at: number,
  rules: Pick<ChangeRules, 'severity' | 'schedule'>,
): Severity {
  const area = change.regions.reduce((sum, region) => sum + region.area, 0);
  const matching = rules.severity.find(
    (rule) =>
      (rule.kind === undefined || rule.kind === change.kind) &&
      (rule.zone === undefined || change.regions.some((region) => region.zone === rule.zone)) &&
      (rule.min_area === undefined || area >= rule.min_area) &&
      (rule.during === undefined || inWindows(at, rules.schedule?.timezone ?? 'UTC', rule.during)),
  );
  return matching?.severity ?? (change.kind === 'tamper' ? 'high' : 'medium');
}
