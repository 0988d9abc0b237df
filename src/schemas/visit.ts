/**
 * The visit resource: a thing that came, moved about and went, from the first frame that shows it to the last one. The
 * reducer of `src/visits` makes it; outputs and the API share this schema. All times are capture times.
 */
import { type Static, Type } from 'typebox';
import { SIDES } from '../images.js';
import { BoxSchema } from './box.js';
import { OBJECT_KINDS } from './comparison.js';
import { dateTime, literals, nullable } from './constructors.js';
import { VisitStatementSchema } from './visit-statement.js';

const KINDS = ['visit', 'passage'] as const;
const STATUSES = ['open', 'ended'] as const;
const ENDS = ['gone', 'unseen'] as const;
const IDENTITIES = ['certain', 'uncertain'] as const;
const PathPointSchema = Type.Object(
  { at: dateTime('Capture time.'), box: BoxSchema },
  { $id: 'PathPoint', description: 'The place at which a frame shows the thing.' },
);

export const VisitSchema = Type.Object(
  {
    id: Type.String({ pattern: '^vis_[0-9a-z]{26}$', description: 'Derived from the camera and its first frame.' }),
    camera: Type.String(),
    kind: literals(KINDS, 'passage: one or two frames show it; visit: three or more do.'),
    status: literals(STATUSES, 'open: it is still there.'),
    caption: Type.String({ description: 'The sentence of `content`, in English.' }),
    content: VisitStatementSchema,
    identity: literals(IDENTITIES, 'uncertain: it may be two things that look alike, or one of several.'),
    first_seen: dateTime('The first frame that shows it.'),
    there_before: Type.Boolean({ description: 'It was in view in the first frame: when it came is unknown.' }),
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
        comparison: Type.String({ description: 'Id of a comparison of this frame.' }),
        side: literals(SIDES, 'Which frame of the comparison it is.'),
        at: dateTime(),
        box: BoxSchema,
      },
      { description: 'The frame that shows it best: large, complete and apart from other things.' },
    ),
    changes: Type.Array(Type.Object({ id: Type.String(), object: literals(OBJECT_KINDS) }), {
      description: 'Changes of objects that were left or removed during the visit, beside its thing.',
    }),
  },
  { $id: 'Visit' },
);
export type Visit = Static<typeof VisitSchema>;
