/**
 * The change resource: a confirmed track of one camera, from its confirmation to its end. The API's answer, the stored
 * record, the payload of alerts and the reducer in src/camera/changes share these schemas. All times are capture times.
 */
import { type Static, Type } from 'typebox';
import { SIDES } from '../base/images.js';
import { BoxSchema } from './box.js';
import { dateTime, literals, nullable, unit } from './constructors.js';
import { FeedbackSchema } from './feedback.js';
import {
  type AlertType,
  CHANGE_KINDS,
  CHANGE_STATUSES,
  type ChangeEventType,
  OBJECT_KINDS,
  SEVERITIES,
} from './kinds.js';
import { StatementSchema } from './statement.js';

export const ChangeRegionSchema = Type.Object(
  {
    side: literals(SIDES, 'The frame in which the changed thing is seen.'),
    box: BoxSchema,
    area: unit('Share of the frame.'),
    score: unit(),
    scene: Type.Optional(
      unit('Probability that it lies in the scene, and not on the lens or close to it; absent: not separated.'),
    ),
    zone: nullable(Type.String(), "Id of the camera's zone it lies in."),
  },
  { $id: 'ChangeRegion' },
);
export type ChangeRegion = Static<typeof ChangeRegionSchema>;

/**
 * The reducer's part of a change. Acknowledgement and feedback are stored beside it, so that neither overwrites the
 * other.
 */
export const FoundChangeSchema = Type.Object({
  id: Type.String({
    pattern: '^chg_[0-9a-z]{26}$',
    description:
      'Derived from the camera, the first frame that showed it and the location: the same frames give the same id.',
  }),
  camera: Type.String(),
  zone: nullable(Type.String()),
  kind: literals(CHANGE_KINDS, 'Kind of the change.'),
  caption: Type.String({
    description:
      'The statement about this location of the most confident comparison up to the confirmation that names the ' +
      'thing; or a plain sentence of kind and place. The place is the name of its zone, if that has one.',
  }),
  model_caption: Type.Optional(
    Type.String({
      description: 'Present if `caption` names a zone: the sentence with the place in the words of the model.',
    }),
  ),
  content: Type.Optional(StatementSchema),
  ended: Type.Optional(
    Type.Object(
      { caption: Type.String(), content: StatementSchema },
      { description: 'Present once it has reverted: the sentence about what is true since then, and its statement.' },
    ),
  ),
  object: Type.Optional(
    Type.Object(
      {
        value: literals(OBJECT_KINDS, 'object_left: the object came and stayed; object_removed: it stayed away.'),
        since: dateTime('Capture time of the first frame that showed it so.'),
        at: dateTime('Capture time of the frame from which it counts: it had stayed for `left_after_s`.'),
        probability: unit('Probability that it is an object, the mean of the frames that named it.'),
        owner: nullable(
          Type.Object({
            comparison: Type.String({ description: 'Id of the comparison that showed the person.' }),
            at: dateTime('Capture time of the frame that showed them.'),
            box: BoxSchema,
          }),
          'The person who was at most three lengths of the object away, in the 30 s before; null: there was none.',
        ),
      },
      { description: 'Present once the change counts as an object left or removed.' },
    ),
  ),
  judged: Type.Optional(
    Type.Array(
      Type.Object({
        when: Type.String({ description: 'Sentence of a severity rule of the camera.' }),
        p: unit(
          'Probability that it is true, the mean of the frames that named the thing. The zone is not part of it.',
        ),
      }),
      { description: 'Present if rules of the camera have a sentence, and a frame named the thing.' },
    ),
  ),
  confidence: unit('Confidence of that comparison.'),
  status: literals(
    CHANGE_STATUSES,
    'opened | persisting (seen again since) | acknowledged (by a person, still there) | reverted ' +
      '(gone; `acknowledged_at` says whether it was acknowledged).',
  ),
  severity: literals(SEVERITIES, "By the camera's rules; it may rise and never falls."),
  first_seen: dateTime('Capture time of the first frame that showed it.'),
  confirmed_at: dateTime('Capture time of the frame that confirmed it.'),
  last_seen: dateTime(
    'Capture time of the last frame that proves that it is still so; of a settled change at most 10 s late until it ends.',
  ),
  settled_at: nullable(
    dateTime(),
    'Time from which it counts as part of "before"; null while frames still differ by it.',
  ),
  reverted_at: nullable(dateTime(), 'Capture time of the first frame that no longer showed it.'),
  alerted_at: nullable(dateTime(), 'Time of the last alert about it; null if there was none.'),
  suppressed_count: Type.Integer({
    minimum: 0,
    description: 'Alerts at this location that the cool-down suppressed before the last alert about this change.',
  }),
  regions: Type.Array(ChangeRegionSchema, { description: 'In the frames of `comparisons.best`.' }),
  last_regions: Type.Optional(
    Type.Array(ChangeRegionSchema, {
      description: 'In the last frame that outlines it apart from other changes; absent: as `regions`.',
    }),
  ),
  comparisons: Type.Object(
    { first: Type.String(), best: Type.String(), last: Type.String() },
    {
      description:
        'Ids of three comparisons: the first that showed it; the one that gives `caption`, `confidence`, `regions` and ' +
        'the pictures; and the last one whose frames differed by it.',
    },
  ),
});
export type FoundChange = Static<typeof FoundChangeSchema>;

export const ChangeSchema = Type.Object(
  {
    ...FoundChangeSchema.properties,
    acknowledged_at: nullable(dateTime(), 'Time of the acknowledgement by a person.'),
    feedback: nullable(FeedbackSchema),
  },
  { $id: 'Change' },
);
export type Change = Static<typeof ChangeSchema>;
/** An alert that is to be delivered. */
export interface AlertIntent {
  /** 'alr_...' */
  readonly id: string;
  readonly type: AlertType;
  readonly change: FoundChange;
  /** alerts at this location that were suppressed or lost since the previous one */
  readonly suppressedCount: number;
  /** null if no cool-down applies, because the alerted change has reverted */
  readonly cooldownKey: string | null;
  /** capture time, epoch ms */
  readonly at: number;
}

/** An input of the change reducer besides observations: the outcome of a delivery, or an acknowledgement. */
export type CameraEvent =
  | {
      readonly type: 'alert.delivered' | 'alert.failed' | 'alert.overtaken';
      readonly alertId: string;
      readonly cooldownKey: string;
      readonly suppressedCount: number;
    }
  | { readonly type: 'change.acknowledged' | 'change.unacknowledged' | 'change.normal'; readonly changeId: string };

/** The update of a change by an observation. */
export interface ChangeUpdate {
  readonly change: FoundChange;
  /** null if the change was only seen again */
  readonly event: ChangeEventType | null;
}
