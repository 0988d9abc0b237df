/** The truth check of an answer: how probable each clause of its sentence is, and which of its words. */
import { type Static, Type } from 'typebox';
import { nullable, text, unit } from './constructors.js';

const fact = (of: string) => nullable(unit(`Probability that ${of} true; null: the sentence states none.`));
export const SentenceFactsSchema = Type.Object(
  {
    action: fact('what happened is'),
    noun: fact('the nouns are'),
    colour: fact('the colours are'),
    place: fact('the place, or the way of a move, is'),
    count: fact('the number of things is'),
  },
  { $id: 'SentenceFacts', description: 'A part of a sentence can be false alone.' },
);
export type SentenceFacts = Static<typeof SentenceFactsSchema>;

export const CheckSchema = Type.Object(
  {
    score: nullable(
      unit("The least `p` of the clauses; null: none is left, because the camera's zones exclude their regions."),
    ),
    clauses: Type.Array(
      Type.Object({
        text: text('The clause as the caption states it.'),
        p: unit('Probability that it is true, if as many true as false sentences are asked about.'),
        facts: SentenceFactsSchema,
        regions: Type.Array(Type.Integer({ minimum: 1 }), { description: 'Ids of the regions that it is about.' }),
      }),
    ),
  },
  { $id: 'Check' },
);
export type Check = Static<typeof CheckSchema>;
