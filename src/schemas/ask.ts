/** The answer to a question about a comparison: how probable is a sentence? */
import { type Static, Type } from 'typebox';
import { SentenceFactsSchema } from './check.js';
import { unit } from './constructors.js';

export const AskAnswerSchema = Type.Object(
  {
    sentence: Type.String({ description: 'As it was asked.' }),
    p: unit('Probability that the sentence is true of the comparison, if as many true as false ones are asked about.'),
    read_as: Type.String({ description: 'The words that the model knows, in their order; `p` is about them.' }),
    unknown_words: Type.Array(Type.String(), { description: 'Words that the model does not know and left out.' }),
    facts: SentenceFactsSchema,
  },
  { $id: 'AskAnswer' },
);
export type AskAnswer = Static<typeof AskAnswerSchema>;
