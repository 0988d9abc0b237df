/** The manifest's key `search`: how a text becomes the input of the graph `text`, and what a cosine means. */
import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false };
const Count = Type.Integer({ minimum: 1 });
const Id = Type.Integer({ minimum: 0 });
const Word = Type.String({ minLength: 1 });

export const SearchManifestSchema = Type.Object(
  {
    /** length of the unit vectors of `pair` and `text` */
    dimensions: Count,
    vocabulary: Type.Array(Type.String(), { minItems: 1 }),
    special: Type.Object({ pad: Id, unk: Id, end: Id }, strict),
    /** words of a text, with the end */
    max_words: Type.Integer({ minimum: 2 }),
    /** rows of n-grams; row 0 is none */
    buckets: Type.Integer({ minimum: 2 }),
    grams_per_word: Count,
    /** characters of an n-gram */
    gram_sizes: Type.Array(Count, { minItems: 1 }),
    /** another name -> the noun of the captions */
    synonyms: Type.Record(Type.String(), Word),
    /** event -> words that state it in a query */
    event_words: Type.Record(Type.String(), Type.Array(Word)),
    /** cosine of a text and a pair below which the pair is no answer */
    least_cosine: Type.Number({ minimum: -1, maximum: 1 }),
    /** texts with their input, which test an encoder */
    examples: Type.Array(
      Type.Object({ text: Type.String(), ids: Type.Array(Id), grams: Type.Array(Type.Array(Id)) }, strict),
    ),
    metrics: Type.Record(Type.String(), Type.Unknown()),
    seed: Type.Integer(),
    command: Type.String(),
    cost: Type.String(),
  },
  strict,
);
export type SearchManifest = Static<typeof SearchManifestSchema>;

/** @returns a contradiction of the key in itself or with other keys, which a schema cannot express, or null */
export function contradictionOfSearch(manifest: {
  readonly search?: SearchManifest;
  readonly graphs: { readonly pair?: unknown; readonly text?: unknown };
}): string | null {
  const { search, graphs } = manifest;
  const set = [search, graphs.pair, graphs.text].filter((part) => part !== undefined);
  if (set.length % 3 !== 0) return '/search, /graphs/pair and /graphs/text: some are set without the others';
  if (search === undefined) return null;
  const { vocabulary, special } = search;
  for (const [name, id] of Object.entries(special)) {
    if (id >= vocabulary.length) {
      return `/search/special/${name} is ${id}, but its vocabulary has ${vocabulary.length} words`;
    }
  }
  return new Set(vocabulary).size === vocabulary.length ? null : '/search/vocabulary holds a word twice';
}
