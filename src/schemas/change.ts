/**
 * A change: what comparisons of one camera found at one place, followed from its confirmation to its end. The API's answer, the stored
 * record, the alert's payload and the reducer in src/alerts share these schemas. All times are the camera's (captured_at).
 */
import { type Static, Type } from 'typebox';
import { SIDES } from '../images.js';
import { BoxSchema, SEVERITIES } from './comparison.js';
import { dateTime, literals, nullable, unit } from './constructors.js';

export const CHANGE_KINDS = ['appear', 'disappear', 'move', 'replace', 'tamper'] as const;
export const CHANGE_STATUSES = ['opened', 'persisting', 'reverted', 'acknowledged'] as const;
/** What happens to a change; the same names are the types of server-sent events, and of those alerts that tell of it. */
export const CHANGE_EVENTS = [
  'change.opened',
  'change.persisting',
  'change.escalated',
  'change.settled',
  'change.reverted',
  'change.acknowledged',
] as const;
export const ALERT_TYPES = ['change.opened', 'change.escalated', 'change.reverted'] as const;
export const FEEDBACK_JUDGEMENTS = ['correct', 'false_alarm'] as const;

export const ChangeRegionSchema = Type.Object(
  {
    side: literals(SIDES, 'The frame in which the changed thing is seen.'),
    box: BoxSchema,
    area: unit('Share of the frame.'),
    score: unit(),
    zone: nullable(Type.String(), "Id of the camera's zone it lies in."),
  },
  { $id: 'ChangeRegion' },
);
export type ChangeRegion = Static<typeof ChangeRegionSchema>;

export const FeedbackSchema = Type.Object(
  {
    judgement: literals(FEEDBACK_JUDGEMENTS, 'Whether the scene really changed so.'),
    caption: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'What should have been said.' }),
    ),
    at: dateTime('When it was given.'),
  },
  { $id: 'Feedback' },
);
export type Feedback = Static<typeof FeedbackSchema>;

/** What the reducer decides; a person's part (acknowledged, feedback) is kept beside it, so that neither overwrites the other. */
export const FoundChangeSchema = Type.Object({
  id: Type.String({
    pattern: '^chg_[0-9a-z]{26}$',
    description:
      'Follows from the camera, the frame that first showed it and the place: the same frames give the same id.',
  }),
  camera: Type.String(),
  zone: nullable(Type.String()),
  kind: literals(CHANGE_KINDS, 'What sort of change.'),
  caption: Type.String({ description: 'The sentence of the surest comparison up to the confirmation.' }),
  confidence: unit('Of that comparison.'),
  status: literals(CHANGE_STATUSES, 'opened | persisting (seen again since) | reverted | acknowledged'),
  severity: literals(SEVERITIES, "By the camera's rules; it may rise and never falls."),
  first_seen: dateTime('Captured time of the first frame that showed it.'),
  confirmed_at: dateTime('Captured time of the frame that confirmed it.'),
  last_seen: dateTime('Captured time of the last frame that showed it.'),
  settled_at: nullable(
    dateTime(),
    'Since when it is part of what is normal; null while it still differs from it.',
  ),
  reverted_at: nullable(dateTime(), 'Captured time of the first frame in which it was gone.'),
  alerted_at: nullable(dateTime(), 'When the last alert about it was made; null where none was.'),
  suppressed_count: Type.Integer({
    minimum: 0,
    description: 'Alerts at this place that the cool-down kept quiet before the last one about this change.',
  }),
  regions: Type.Array(ChangeRegionSchema),
  comparisons: Type.Object(
    { first: Type.String(), best: Type.String(), last: Type.String() },
    {
      description: 'Ids: the first to show it, the one that gave caption and pictures, the last to show it.',
    },
  ),
});
export type FoundChange = Static<typeof FoundChangeSchema>;

export const ChangeSchema = Type.Object(
  {
    ...FoundChangeSchema.properties,
    acknowledged_at: nullable(dateTime(), 'When a person acknowledged it.'),
    feedback: nullable(FeedbackSchema),
  },
  { $id: 'Change' },
);
export type Change = Static<typeof ChangeSchema>;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type ChangeStatus = (typeof CHANGE_STATUSES)[number];
export type ChangeEventType = (typeof CHANGE_EVENTS)[number];
export type AlertType = (typeof ALERT_TYPES)[number];
export type Severity = (typeof SEVERITIES)[number];

/** < 0 where a matters less than b. */
export const compareSeverity = (a: Severity, b: Severity): number =>
  SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b);

/** Something to deliver. */
export interface AlertIntent {
  /** 'alr_...' */
  readonly id: string;
  readonly type: AlertType;
  readonly change: FoundChange;
  /** alerts at this place that were kept quiet or lost since the one before */
  readonly suppressedCount: number;
  /** null: it knows no cool-down (what was alerted has gone) */
  readonly cooldownKey: string | null;
  /** epoch ms, the camera's time */
  readonly at: number;
}

/** What has become known since the last observation. */
export type CameraEvent =
  | {
      readonly type: 'alert.delivered' | 'alert.failed' | 'alert.overtaken';
      readonly alertId: string;
      readonly cooldownKey: string;
      readonly suppressedCount: number;
    }
  | { readonly type: 'change.acknowledged'; readonly changeId: string };

/** What an observation did to a change. */
export interface ChangeUpdate {
  readonly change: FoundChange;
  /** null where it only was seen again */
  readonly event: ChangeEventType | null;
}
