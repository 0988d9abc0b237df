/** The judgement of a person, stored beside the change or visit that it is about. */
import { type Static, Type } from 'typebox';
import { dateTime, literals } from './constructors.js';

const FEEDBACK_JUDGEMENTS = ['correct', 'false_alarm'] as const;

export const FeedbackSchema = Type.Object(
  {
    judgement: literals(FEEDBACK_JUDGEMENTS, 'Whether the scene really changed that way.'),
    caption: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'The caption that would have been right.' }),
    ),
    at: dateTime('When it was given.'),
    by: Type.Optional(Type.String({ description: 'Id of the key that gave it.' })),
  },
  { $id: 'Feedback' },
);
export type Feedback = Static<typeof FeedbackSchema>;
