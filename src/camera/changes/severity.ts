/** Severity of a change, from rules over zone, kind, area, time of day and sentences; the caption plays no part. */
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import type { ChangeKind, ObjectKind, Severity } from '../../schemas/kinds.js';
import type { SeverityRule } from '../settings/severity-rule.js';
import { isTrue } from './rule-sentences.js';
import type { ChangeRules } from './rules.js';
import { inWindows } from './schedule.js';

/**
 * @param change `object` if it counts as left or removed: it is one step more severe than otherwise and at least
 *   medium, unless a rule names it
 * @param at epoch ms
 * @returns the severity of the first rule whose conditions all hold; without one 'high' for tampering and 'medium'
 *   otherwise
 */
export function severityOf(
  change: {
    readonly kind: ChangeKind;
    readonly regions: readonly ChangeRegion[];
    readonly object?: ObjectKind | undefined;
    readonly judged?: FoundChange['judged'] | undefined;
  },
  at: number,
  rules: Pick<ChangeRules, 'severity' | 'schedule' | 'sentences'>,
): Severity {
  const area = change.regions.reduce((sum, region) => sum + region.area, 0);
  const matching = rules.severity.find(
    (rule) =>
      (rule.kind === undefined || rule.kind === change.kind || rule.kind === change.object) &&
      (rule.zone === undefined || change.regions.some((region) => region.zone === rule.zone)) &&
      (rule.min_area === undefined || area >= rule.min_area) &&
      (rule.when === undefined || isTrue({ ...rule, when: rule.when }, change, rules.sentences)) &&
      (rule.during === undefined || inWindows(at, rules.schedule?.timezone ?? 'UTC', rule.during)),
  );
  const severity = matching?.severity ?? (change.kind === 'tamper' ? 'high' : 'medium');
  return change.object === undefined || namesObject(matching, change.object, rules) ? severity : raised(severity);
}

const namesObject = (
  rule: SeverityRule | undefined,
  object: ObjectKind,
  { sentences }: Pick<ChangeRules, 'sentences'>,
): boolean => rule?.kind === object || sentences.find(({ text }) => text === rule?.when)?.said.kind === object;

const raised = (severity: Severity): Severity => (severity === 'info' || severity === 'low' ? 'medium' : 'high');
