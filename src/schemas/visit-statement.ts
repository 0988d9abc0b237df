/** Schema of the statement of a visit: what its sentence states. `src/language` writes it as words. */
import { type Static, Type } from 'typebox';
import { literals, nullable } from './constructors.js';
import { OBJECT_KINDS } from './kinds.js';
import { ThingSchema } from './statement.js';

const EDGES = ['left', 'right', 'top', 'bottom'] as const;
export type Edge = (typeof EDGES)[number];

const Place = nullable(Type.String(), 'Phrase of a third of the frame; null: it moved about.');

export const VisitStatementSchema = Type.Object(
  {
    thing: ThingSchema,
    came: Type.Object({
      how: literals(
        ['there', 'edge', 'appeared', 'uncertain'],
        'there: in the first frame; edge: it came into the frame; uncertain: it may have been in view before.',
      ),
      edge: nullable(literals(EDGES), 'The edge at which it came into the frame; null: at none.'),
      place: Place,
    }),
    stayed: nullable(
      Type.Object({ place: Place, seconds: Type.Number({ minimum: 0 }) }),
      'The longest time at one place; null: it did not stay for 5 s, or its identity is uncertain.',
    ),
    went: Type.Object({
      how: literals(
        ['edge', 'gone', 'still', 'unseen', 'uncertain'],
        'still: it is there in the last frame; uncertain: the one that came, or others that look alike.',
      ),
      edge: nullable(literals(EDGES), 'The edge at which it left the frame; null: at none.'),
      place: Place,
    }),
    objects: Type.Array(Type.Object({ thing: ThingSchema, value: literals(OBJECT_KINDS) }), {
      description: 'Left or taken beside it, as its changes state them.',
    }),
    between: Type.Optional(
      Type.Object(
        { from: Type.String(), to: Type.String() },
        {
          description: 'First and last minute of an uncertain visit, HH:MM in the time zone of the camera, or UTC.',
        },
      ),
    ),
    seconds: Type.Number({ minimum: 0, description: 'From the first to the last frame that shows it.' }),
  },
  { $id: 'VisitStatement' },
);
/** The value that the sentence about one visit states. */
export type VisitStatement = Static<typeof VisitStatementSchema>;
