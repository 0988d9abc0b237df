/** The messages about a camera that the limit of an endpoint held back, as its digest reports them. */
import { type Static, Type } from 'typebox';
import { count, dateTime, nullable, text } from './constructors.js';

const DigestStatementSchema = Type.Object({
  counts: Type.Array(
    Type.Object({
      noun: nullable(Type.String(), 'The thing; null: changes without a named thing.'),
      count: count('Things of the messages; more than three at one place count as four.'),
    }),
    { description: 'The most frequent first.' },
  ),
  from: text('Local time of the first message, HH:MM.'),
  to: text('Local time of the last one.'),
});
export type DigestStatement = Static<typeof DigestStatementSchema>;

export const DigestSchema = Type.Object(
  {
    camera: Type.String(),
    messages: count('Messages that were held back.'),
    first: dateTime('Capture time of the first of them.'),
    last: dateTime('Capture time of the last one.'),
    caption: text('The counts as a sentence.'),
    content: DigestStatementSchema,
  },
  { $id: 'Digest' },
);
export type Digest = Static<typeof DigestSchema>;
