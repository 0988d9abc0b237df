/**
 * The visit resource: a thing that came, moved about and went, from the first frame that shows it to the last one. The
 * reducer of `src/camera/visits` makes it; outputs and the API share this schema. All times are capture times.
 */
import { type Static, Type } from 'typebox';
import { SIDES } from '../base/images.js';
import { BoxSchema } from './box.js';
import { dateTime, flag, literals, nullable, text } from './constructors.js';
import { FeedbackSchema } from './feedback.js';
import { OBJECT_KINDS, SEVERITIES, VISIT_KINDS } from './kinds.js';
import type { VisitMessageEvent } from './message.js';
import { VISIT_ID_PATTERN } from './patterns.js';
import { VisitStatementSchema } from './visit-statement.js';

/** Judgement by people: stored beside the visit, so that neither overwrites the other; in answers of the API alone. */
const JUDGEMENT = {
  acknowledged_at: Type.Optional(nullable(dateTime(), 'Time of the acknowledgement by a person.')),
  feedback: Type.Optional(nullable(FeedbackSchema)),
};
const STATUSES = ['open', 'ended'] as const;
const ENDS = ['gone', 'unseen'] as const;
const IDENTITIES = ['certain', 'uncertain'] as const;
const PathPointSchema = Type.Object(
  { at: dateTime('Capture time.'), box: BoxSchema },
  { $id: 'PathPoint', description: 'The place at which a frame shows the thing.' },
);

export const VisitSchema = Type.Object(
  {
    id: Type.String({ pattern: VISIT_ID_PATTERN, description: 'Derived from the camera and its first frame.' }),
    camera: Type.String(),
    kind: literals(VISIT_KINDS, 'passage: one or two frames show it; visit: three or more do.'),
    status: literals(STATUSES, 'open: it is still there.'),
    caption: text('The sentence of `content`.'),
    content: VisitStatementSchema,
    identity: literals(IDENTITIES, 'uncertain: it may be two things that look alike, or one of several.'),
    first_seen: dateTime('The first frame that shows it.'),
    there_before: flag('It was in view in the first frame: when it came is unknown.'),
    last_seen: dateTime('The last frame that shows it.'),
    gone: nullable(
      Type.Object({
        after: dateTime('The last frame that shows it.'),
        before: dateTime('The first frame that does not.'),
      }),
      'The interval in which it went; null: it is still there, or no frame shows its absence.',
    ),
    end: nullable(
      literals(ENDS),
      'gone: frames show its absence; unseen: the recording paused or the view changed while it was there.',
    ),
    frames: Type.Integer({ minimum: 1, description: 'Number of frames that show it.' }),
    path: Type.Array(PathPointSchema, { description: 'At most 32 places, in the order of time.' }),
    best: Type.Object(
      {
        comparison: text('Id of a comparison of this frame.'),
        side: literals(SIDES, 'Which frame of the comparison it is.'),
        at: dateTime(),
        box: BoxSchema,
      },
      { description: 'The frame that shows it best: large, complete and apart from other things.' },
    ),
    changes: Type.Array(Type.Object({ id: Type.String(), object: literals(OBJECT_KINDS) }), {
      description: 'Changes of objects that were left or removed during the visit, beside its thing.',
    }),
    alert: Type.Optional(
      Type.Object(
        { when: Type.String(), severity: literals(SEVERITIES), at: dateTime() },
        { description: 'The rule about visits that decided, its severity, and the frame that caused the alert.' },
      ),
    ),
    ...JUDGEMENT,
    picture: Type.Optional(
      Type.Object(
        { url: Type.String() },
        { description: 'Link to the frame of `best`, while it is kept; in answers of the API alone.' },
      ),
    ),
  },
  { $id: 'Visit' },
);
export type Visit = Static<typeof VisitSchema>;
export type VisitJudgement = Required<Pick<Visit, keyof typeof JUDGEMENT>>;

/** An event of the reducer. */
export interface VisitEvent {
  /** passed: it ended after one or two frames. linked: an object that it left or took counts as left or removed now */
  readonly type: VisitMessageEvent | 'visit.passed' | 'visit.linked';
  readonly visit: Visit;
}
