/**
 * The names of verdicts, kinds, states, severities and events of findings, changes and visits. Severities are in their
 * order, the least first.
 */
import { SIDES, type Side } from '../base/images.js';

export const VERDICTS = ['none', 'nuisance', 'change', 'tamper'] as const;
export const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'] as const;
/** Kinds of one thing's change, each with the frames that show the thing. */
export const SIDES_OF_KIND = {
  appear: ['after'],
  disappear: ['before'],
  move: SIDES,
  replace: SIDES,
} as const satisfies Readonly<Partial<Record<(typeof KINDS)[number], readonly Side[]>>>;
export type StatementKind = keyof typeof SIDES_OF_KIND;
const REVERSED: Readonly<Record<string, string>> = { appear: 'disappear', disappear: 'appear' };
/** The kind of the exchanged pair; the others than these two stay. */
export const reversedKind = <K extends string>(kind: K): K => (REVERSED[kind] ?? kind) as K;
export const SEVERITIES = ['info', 'low', 'medium', 'high'] as const;

/** Kinds of an object that came, or went, and stays so; the kind of its change is the key. */
export const OBJECT_KIND_OF = { appear: 'object_left', disappear: 'object_removed' } as const;
export type ObjectKind = (typeof OBJECT_KIND_OF)[keyof typeof OBJECT_KIND_OF];
export const OBJECT_KINDS = Object.values(OBJECT_KIND_OF);
/** Greatest distance of an owner from the object, in lengths of the object (set, not fitted). */
export const OWNER_WITHIN = 3;

export const CHANGE_KINDS = ['appear', 'disappear', 'move', 'replace', 'tamper'] as const;
export const CHANGE_STATUSES = ['opened', 'persisting', 'reverted', 'acknowledged'] as const;
/** Events in the life of a change; also the types of server-sent events. ALERT_TYPES are the ones that are alerted. */
const CHANGE_EVENTS = [
  'change.opened',
  'change.persisting',
  'change.escalated',
  'change.settled',
  'change.reverted',
  'change.acknowledged',
  'change.unacknowledged',
] as const;
export const ALERT_TYPES = ['change.opened', 'change.escalated', 'change.reverted', 'change.acknowledged'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type ChangeStatus = (typeof CHANGE_STATUSES)[number];
export type ChangeEventType = (typeof CHANGE_EVENTS)[number];
export type AlertType = (typeof ALERT_TYPES)[number];
export type Severity = (typeof SEVERITIES)[number];

/** @returns a negative number if a is less severe than b, 0 if they are equal. */
export const compareSeverity = (a: Severity, b: Severity): number => SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b);

/** Kind of a change in a filter: that of the change, or of the object that was left or removed. */
export type FilterKind = ChangeKind | ObjectKind;
export const FILTER_KINDS = [...CHANGE_KINDS, ...OBJECT_KINDS] as const;
export const hasKind = (
  { kind, object }: { readonly kind: ChangeKind; readonly object?: { readonly value: ObjectKind } | undefined },
  asked: FilterKind,
): boolean => kind === asked || object?.value === asked;

export const VISIT_KINDS = ['visit', 'passage'] as const;
export type VisitKind = (typeof VISIT_KINDS)[number];
