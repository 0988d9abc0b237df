/** Schema of `names` of a bundle's manifest: the words of the graph `names`, and how they are chosen (naming.ts). */
import { Type } from 'typebox';

const strict = { additionalProperties: false };
const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Wider = Type.Record(Type.String(), Type.String());
const Weight = Type.Number({ minimum: 0 });
const Levels = Type.Array(Type.Tuple([Probability, Probability]), { minItems: 2 });
export const NamesSchema = Type.Object(
  {
    /** in the order of the logits; the first is "nothing" */
    nouns: Type.Array(Type.String({ minLength: 1 }), { minItems: 2 }),
    /** noun -> wider noun; a tree, which may have nouns without a logit */
    wider: Wider,
    colours: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    wider_colours: Type.Optional(Wider),
    plural: Wider,
    /** how the decoder's own words join the probabilities (naming.ts); absent = not at all */
    decoder: Type.Optional(
      Type.Object({ flatten: Weight, noun: Weight, class: Weight, colour_flatten: Weight, colour: Weight }, strict),
    ),
    /** pairs of `truth` and the probability that a word must reach for it, ascending; absent = `truth` itself */
    levels: Type.Optional(
      Type.Object(
        {
          nouns: Levels,
          colours: Type.Optional(Levels),
          /** noun -> levels of the nouns below it, such as "man" and "woman" below "person", instead of `nouns` */
          below: Type.Optional(Type.Record(Type.String(), Levels)),
        },
        strict,
      ),
    ),
    /** log-odds that a frame shows the indoors, per channel of its coarse features (setting.ts); absent = not known */
    setting: Type.Optional(
      Type.Object({ weights: Type.Array(Type.Number(), { minItems: 1 }), offset: Type.Number() }, strict),
    ),
  },
  strict,
);
