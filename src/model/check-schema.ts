/**
 * Schema of `check` of a bundle's manifest: the words of the truth check, and how its outputs become probabilities.
 * `training/bundle/check_levels.py` fits the numbers on held-out pairs.
 */
import { type Static, Type } from 'typebox';
import { SLOTS } from './bundle.js';

const strict = { additionalProperties: false };
const Id = Type.Integer({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
/** probability = sigmoid(scale * output + offset) */
const Logistic = { scale: Type.Number(), offset: Type.Number() };
const SlotSchema = Type.Object(
  {
    ...Logistic,
    /** probability below which the word of a slot is weak */
    threshold: Share,
    /** measured: share of right words before and after the weak ones, and the share of weak ones */
    served_right: Type.Optional(Share),
    right_above: Type.Optional(Share),
    below: Type.Optional(Share),
  },
  strict,
);

export const CheckSchema = Type.Object(
  {
    vocabulary: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    special: Type.Object({ pad: Id, unk: Id, end: Id }, strict),
    /** number of ids of a sentence, the end id included */
    max_length: Type.Integer({ minimum: 2 }),
    slots: Type.Tuple([
      Type.Literal(SLOTS[0]),
      Type.Literal(SLOTS[1]),
      Type.Literal(SLOTS[2]),
      Type.Literal(SLOTS[3]),
      Type.Literal(SLOTS[4]),
    ]),
    /** of the softmax over sentences in training */
    temperature: Type.Number({ exclusiveMinimum: 0 }),
    /** of the score of a sentence, if as many true as false ones are asked about */
    sentence: Type.Object(Logistic, strict),
    calibration: Type.Object(
      { action: SlotSchema, noun: SlotSchema, colour: SlotSchema, place: SlotSchema, count: SlotSchema },
      strict,
    ),
    /** lead of the score from which another clause replaces the decoder's own; null: none does */
    margin: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
    reranked: Type.Record(Type.String(), Type.Number()),
    metrics: Type.Record(Type.String(), Type.Unknown()),
    seed: Type.Integer(),
    command: Type.String(),
    cost: Type.String(),
  },
  strict,
);
export type CheckManifest = Static<typeof CheckSchema>;

/** @returns a contradiction within `check`, which a schema cannot express, or null */
export function contradictionOfCheck({ vocabulary, special }: CheckManifest): string | null {
  for (const [name, id] of Object.entries(special)) {
    if (id >= vocabulary.length) {
      return `/check/special/${name} is ${id}, but /check/vocabulary has ${vocabulary.length} words`;
    }
  }
  if (new Set(Object.values(special)).size < 3) return '/check/special uses one id for two purposes';
  return new Set(vocabulary).size < vocabulary.length ? '/check/vocabulary holds a word twice' : null;
}
