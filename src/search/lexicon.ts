/**
 * Lexicon of the search: which words mean one thing, and which are wider or narrower. Nouns and colours are those of
 * the caption reader; the directions add the forms that people type into a search field.
 */
import { COLOUR_PHRASES, canonicalColour, sameColour } from '../language/people/colours.js';
import { NOUN_FORMS, NOUNS } from '../language/people/nouns.js';
import { singularOf, wordsOf } from './words.js';

export type SearchDirection = 'appear' | 'disappear' | 'move' | 'replace';

/** The meaning of a word or phrase. */
export type Concept =
  | { readonly kind: 'noun'; readonly name: string }
  | { readonly kind: 'colour'; readonly name: string }
  | { readonly kind: 'direction'; readonly name: SearchDirection };

/** Key of a concept among the terms of the index; no word contains ':'. */
export const termOf = ({ kind, name }: Concept): string => `${kind}:${name}`;

const FORMS_OF_DIRECTION: Readonly<Record<SearchDirection, readonly string[]>> = {
  appear: [
    'appear appears appeared appearing appearance arrive arrives arrived arriving arrival come comes came coming enter',
    'enters entered entering new newly added placed deliver delivers delivered delivering delivery dropped',
  ],
  disappear: [
    'disappear disappears disappeared disappearing leave leaves leaving depart departs departed departing departure',
    'gone vanish vanishes vanished missing remove removes removed removing removal steal steals stole stolen taken took',
    'exits exited exiting',
  ],
  move: ['move moves moved moving movement shift shifts shifted shifting'],
  replace: ['replace replaces replaced replacing replacement swap swaps swapped exchange exchanged instead'],
};
const PHRASES_OF_DIRECTION: Readonly<Record<string, SearchDirection>> = {
  'no longer': 'disappear',
  'left behind': 'appear',
  'been left': 'appear',
  'was left': 'appear',
  'were left': 'appear',
  'taken away': 'disappear',
  'drive away': 'disappear',
  'drives away': 'disappear',
  'drove away': 'disappear',
  'driven away': 'disappear',
  'driving away': 'disappear',
  'drove off': 'disappear',
  'driven off': 'disappear',
  'walked away': 'disappear',
  'walked off': 'disappear',
  'walking away': 'disappear',
  'went away': 'disappear',
  'gone away': 'disappear',
  'came in': 'appear',
  'taken the place': 'replace',
  'took the place': 'replace',
};

const keyOf = (form: string): string => wordsOf(form).join(' ');

const CONCEPTS: ReadonlyMap<string, Concept> = new Map<string, Concept>([
  ...Object.entries(FORMS_OF_DIRECTION).flatMap(([name, lines]) =>
    lines
      .flatMap((line) => line.split(' '))
      .map((form): [string, Concept] => [form, { kind: 'direction', name: name as SearchDirection }]),
  ),
  ...Object.entries(PHRASES_OF_DIRECTION).map(([form, name]): [string, Concept] => [form, { kind: 'direction', name }]),
  ...COLOUR_PHRASES.map((form): [string, Concept] => [
    keyOf(form),
    { kind: 'colour', name: canonicalColour(form) as string },
  ]),
  ...[...NOUN_FORMS].map(([form, { noun }]): [string, Concept] => [keyOf(form), { kind: 'noun', name: noun }]),
]);
/** Words of the longest form, e.g. 'wheelie bin'. */
export const LONGEST_FORM = Math.max(...[...CONCEPTS.keys()].map((form) => form.split(' ').length));

/** @param form folded words, separated by spaces; @returns undefined for an unknown form */
export const conceptOf = (form: string): Concept | undefined => CONCEPTS.get(form) ?? CONCEPTS.get(singularOf(form));

/** Single words of the lexicon, which a misspelled word is compared with. */
export const LEXICON_WORDS: readonly string[] = [...CONCEPTS.keys()].filter((form) => !form.includes(' '));

const COLOURS: readonly string[] = [...new Set(COLOUR_PHRASES.map((form) => canonicalColour(form) as string))];

/** How well a text with another concept answers a query, 0 to 1. */
const NARROWER = 0.8;
const WIDER = 0.4;
const WIDEST = 0.2;
const ALIKE_COLOUR = 0.6;

export interface RelatedConcept {
  readonly concept: Concept;
  readonly relation: 'narrower' | 'wider' | 'alike';
  /** 0..1 */
  readonly weight: number;
}

/**
 * Other concepts that answer a query for this one: "van" answers "vehicle" (narrower), and "person" may answer "woman"
 * (wider), because the captioner names the wider noun when it is not certain. Colours are alike under a camera.
 */
export function relatedTo(concept: Concept): readonly RelatedConcept[] {
  const known = RELATED.get(termOf(concept));
  if (known !== undefined) return known;
  const found = concept.kind === 'noun' ? nounsRelatedTo(concept.name) : coloursRelatedTo(concept);
  RELATED.set(termOf(concept), found);
  return found;
}
const RELATED = new Map<string, readonly RelatedConcept[]>();

function nounsRelatedTo(noun: string): RelatedConcept[] {
  const direct = NOUNS[noun]?.isa ?? [];
  const narrower = Object.entries(NOUNS).filter(([, { isa }]) => isa.includes(noun));
  return [
    ...narrower.map(([name]) => ({ concept: { kind: 'noun', name }, relation: 'narrower', weight: NARROWER }) as const),
    ...direct.map((name) => {
      const weight = name === 'object' ? WIDEST : WIDER;
      return { concept: { kind: 'noun', name }, relation: 'wider', weight } as const;
    }),
  ];
}

const coloursRelatedTo = ({ kind, name }: Concept): RelatedConcept[] =>
  kind !== 'colour'
    ? []
    : COLOURS.filter((other) => other !== name && sameColour(name, other)).map((other) => ({
        concept: { kind: 'colour', name: other },
        relation: 'alike',
        weight: ALIKE_COLOUR,
      }));
