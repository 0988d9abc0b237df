/** Parts of the answer to a search over changes. */
import { type Static, Type } from 'typebox';
import { ChangeSchema } from '../../schemas/change.js';
import { count, flag, literals, nullable, text } from '../../schemas/constructors.js';

const MatchSchema = Type.Object(
  {
    score: Type.Number({
      minimum: 0,
      description: 'Sum of 1 / (60 + rank) over the ranked lists that have the change; it orders one answer only.',
    }),
    words: Type.Array(
      Type.Object({
        word: text('Word of the query.'),
        matched: text('Word of the change, or of its camera or zone, that answers it.'),
      }),
      { description: 'Why it was found.' },
    ),
    cosine: Type.Optional(
      Type.Number({
        minimum: -1.01,
        maximum: 1.01,
        description: 'Cosine of the search vectors of the query and the change; absent: they were not compared.',
      }),
    ),
  },
  { $id: 'ChangeMatch', description: 'Why a search found the change.' },
);

const ListedChangeSchema = Type.Object(
  { ...ChangeSchema.properties, match: Type.Optional(MatchSchema) },
  { $id: 'ListedChange', description: 'A change; with `match` if a search found it.' },
);
export type ListedChange = Static<typeof ChangeSchema> & { readonly match: Static<typeof MatchSchema> };

export const SearchSummarySchema = Type.Object(
  {
    interpreted_as: Type.Array(
      Type.Object({
        word: text('Word of the query; no change that may be found has it.'),
        as: Type.Array(Type.String(), { description: 'The words that were searched instead.' }),
        by: literals(
          ['translation', 'synonym', 'wider', 'narrower', 'spelling'],
          'Relation of these words to the typed one.',
        ),
      }),
    ),
    unknown_words: Type.Array(Type.String(), {
      description: 'Words of the query that neither the changes nor the lexicon have; they found nothing.',
    }),
    all_words: flag('false: no change matches all words of the query; those that match some are the nearest ones.'),
    complete: flag('false: the service has just started and still reads stored changes, the latest first.'),
    changes: count('Number of changes that were searched, after the filters.'),
    compared_vectors: Type.Integer({
      minimum: 0,
      description:
        'Number of these changes whose search vector was compared with that of the query; the others are found by words.',
    }),
    words_alone: nullable(
      literals(
        ['no_worker', 'no_graph', 'no_vector'],
        'No worker answered in time, its model has no search vectors, or the change of `like` has none.',
      ),
      'Why no search vectors were compared; null: they were.',
    ),
  },
  { $id: 'ChangeSearch', description: 'How the query was understood.' },
);
export type SearchSummary = Static<typeof SearchSummarySchema>;

export const SEARCH_COMPONENTS = [MatchSchema, ListedChangeSchema, SearchSummarySchema];
