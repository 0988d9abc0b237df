/** The answer to a question about a comparison: how probable is a sentence? */
import { type Static, Type } from 'typebox';
import { SentenceFactsSchema } from './check.js';
import { nullable, text, unit } from './constructors.js';

export const AskAnswerSchema = Type.Object(
  {
    sentence: text('As it was asked.'),
    p: unit('Probability that the sentence is true of the comparison, if as many true as false ones are asked about.'),
    read_as: text('The words that the model knows, in their order; `p` is about them.'),
    unknown_words: Type.Array(Type.String(), { description: 'Words that the model does not know and left out.' }),
    facts: SentenceFactsSchema,
    by_facts: nullable(
      unit(),
      'Probability by the names that the model gave to the changed things, as rules with `when` have it; null: they ' +
        'cannot judge this sentence.',
    ),
  },
  { $id: 'AskAnswer' },
);
export type AskAnswer = Static<typeof AskAnswerSchema>;
/** The part of the answer that a model gives. */
export type CheckAnswer = Omit<AskAnswer, 'by_facts'>;
