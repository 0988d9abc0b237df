/** Schema of a statement: the value that a sentence about one change states. `src/language` writes it as words. */
import { type Static, Type } from 'typebox';
import { count, flag, literals, nullable, text } from './constructors.js';

const Word = Type.String({ minLength: 1, maxLength: 100 });
const Count = nullable(Type.Integer({ minimum: 1, maximum: 5 }), 'null: several, four or more.');

export const ThingSchema = Type.Object({
  noun: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'In the singular; `something` if it has no known name.',
  }),
  colour: nullable(Word),
  count: Count,
  definite: flag('true: the frame before shows the thing, so that the sentence says "the car"; false: "a car".'),
  garment: Type.Optional(Word),
  parts: Type.Optional(
    Type.Array(Type.Object({ count: Count, colour: Word }), { description: 'Colours of some of several things.' }),
  ),
});
export type Thing = Static<typeof ThingSchema>;

/** change: it is not known what happened. none: nothing did. */
const STATED_KINDS = ['appear', 'disappear', 'move', 'replace', 'change', 'none', 'tamper'] as const;

export const StatementSchema = Type.Object(
  {
    kind: literals(STATED_KINDS, 'change: it is not known what happened; none: nothing did.'),
    verb: text(
      'The template that writes it, of those of its kind; others: further things as those of another statement.',
    ),
    things: Type.Array(ThingSchema, { description: 'For a replacement the former thing, then the new one.' }),
    place: nullable(Word, 'The place, as in the caption; null: the caption names none.'),
    way: nullable(
      Word,
      'The way of a thing that moved, as `to the right`; null: it did not move, or that is not sure.',
    ),
    ended_after_s: Type.Optional(
      nullable(
        Type.Number({ minimum: 0 }),
        'Present if it is over: the sentence states what is true since then. For how long it was so; null: not stated.',
      ),
    ),
  },
  { $id: 'StatementContent' },
);
/** The value that a sentence about one change states. */
export type Statement = Static<typeof StatementSchema>;

export const ContentSchema = Type.Object(
  {
    statements: Type.Array(StatementSchema),
    more: count('Further places that changed; the caption says "others have moved" of them, or nothing.'),
  },
  {
    description:
      'The caption as values: the part of an answer for programs. Absent: the model writes by a grammar of its own.',
  },
);
export type Content = Static<typeof ContentSchema>;
