/** Reader of a query: from what a person typed to the terms of the index, with what was understood and what was not. */
import { type Item, itemsOf, termsOfItem } from './analysis.js';
import { type Course, type Directions, directionsOf, wayOf } from './directions.js';
import { type Concept, conceptOf, LEXICON_WORDS, relatedTo, termOf } from './lexicon.js';
import { closestWord } from './spelling.js';
import { singularOf, wordsOf } from './words.js';

export interface Alternative {
  readonly term: string;
  /** 0..1 */
  readonly weight: number;
}
/** One word or phrase of the query. */
export interface QueryItem {
  readonly word: string;
  readonly alternatives: readonly Alternative[];
  readonly concept: Concept | undefined;
}
export interface Interpretation {
  /** as it was typed */
  readonly word: string;
  /** words that were searched instead */
  readonly as: readonly string[];
  readonly by: 'synonym' | 'wider' | 'narrower' | 'spelling';
}
export interface Query {
  readonly items: readonly QueryItem[];
  readonly directions: Directions;
  /** canonical nouns that answer it; empty if it names none of the lexicon */
  readonly nouns: ReadonlySet<string>;
  readonly interpretedAs: readonly Interpretation[];
  /** words that neither a searched change nor the lexicon has */
  readonly unknownWords: readonly string[];
}

/** The words of the changes that a search may find. */
export interface Vocabulary {
  readonly has: (term: string) => boolean;
  /** single words, in the singular */
  readonly words: () => Iterable<string>;
}

/** Distinct words and phrases of a query that are searched. */
const MOST_ITEMS = 32;
const SHOWN_UNKNOWN = 40;

export function readQuery(text: string, vocabulary: Vocabulary): Query {
  const items: QueryItem[] = [];
  const interpretedAs: Interpretation[] = [];
  const unknownWords: string[] = [];
  const seen = new Set<string>();
  for (const item of itemsOf(text)) {
    if (seen.has(item.surface) || seen.size === MOST_ITEMS) continue;
    seen.add(item.surface);
    const read = readItem(item, vocabulary);
    if (read === null) unknownWords.push(item.surface);
    else items.push(read.item);
    if (read?.interpretation) interpretedAs.push(read.interpretation);
  }
  // Emoji and punctuation alone are no words; the answer names them nevertheless.
  if (wordsOf(text).length === 0) unknownWords.push(text.trim().slice(0, SHOWN_UNKNOWN));
  const nouns = new Set(items.flatMap(nounsOf));
  return { items, directions: directionsOfQuery(text, items), nouns, interpretedAs, unknownWords };
}

interface ReadItem {
  readonly item: QueryItem;
  readonly interpretation?: Interpretation;
}

function readItem({ surface, concept }: Item, vocabulary: Vocabulary): ReadItem | null {
  const literal = singularOf(surface);
  if (concept !== undefined) {
    const item = itemOf(surface, concept);
    const interpretation = vocabulary.has(literal) ? undefined : interpretationOf(surface, concept, vocabulary);
    return interpretation === undefined ? { item } : { item, interpretation };
  }
  if (vocabulary.has(literal)) {
    return { item: { word: surface, alternatives: [{ term: literal, weight: 1 }], concept: undefined } };
  }
  const meant = closestWord(literal, LEXICON_WORDS) ?? closestWord(literal, vocabulary.words());
  if (meant === null) return null;
  const meantConcept = conceptOf(meant);
  const item: QueryItem =
    meantConcept === undefined
      ? { word: surface, alternatives: [{ term: meant, weight: 1 }], concept: undefined }
      : itemOf(surface, meantConcept);
  return { item, interpretation: { word: surface, as: [meant], by: 'spelling' } };
}

/** A word of the lexicon with the words that answer it as well. A direction has no literal form. */
function itemOf(word: string, concept: Concept): QueryItem {
  const alternatives = [
    { term: termOf(concept), weight: 1 },
    ...(concept.kind === 'direction' || word.includes(' ') ? [] : [{ term: singularOf(word), weight: 1 }]),
    ...relatedTo(concept).map(({ concept: other, weight }) => ({ term: termOf(other), weight })),
  ];
  return { word, alternatives, concept };
}

/** @returns the meaning of a word of the lexicon if no change has the word itself; undefined if none is needed */
function interpretationOf(word: string, concept: Concept, { has }: Vocabulary): Interpretation | undefined {
  if (concept.kind === 'direction') return undefined;
  if (has(termOf(concept))) {
    const isSame = conceptOf(concept.name) === conceptOf(word) && singularOf(word) === concept.name;
    return isSame || isPluralOf(word, concept) ? undefined : { word, as: [concept.name], by: 'synonym' };
  }
  const related = relatedTo(concept).filter(({ concept: other }) => has(termOf(other)));
  for (const by of ['narrower', 'wider'] as const) {
    const relation = concept.kind === 'colour' ? 'alike' : by;
    const as = related.filter((one) => one.relation === relation).map(({ concept: other }) => other.name);
    if (as.length > 0) return { word, as, by: concept.kind === 'colour' ? 'synonym' : by };
  }
  return undefined;
}

/** "people" is no other word than "person", and "cars" none than "car". */
const isPluralOf = (word: string, concept: Concept): boolean =>
  concept.kind === 'noun' && PLURALS.get(concept.name)?.includes(word) === true;
const PLURALS: ReadonlyMap<string, readonly string[]> = new Map([
  ['person', ['people', 'persons']],
  ['man', ['men']],
  ['woman', ['women']],
  ['child', ['children']],
]);

const nounsOf = ({ concept }: QueryItem): string[] =>
  concept?.kind !== 'noun' ? [] : [concept.name, ...relatedTo(concept).map(({ concept: other }) => other.name)];

/** By the words for directions; a sentence without any by the caption reader. */
function directionsOfQuery(text: string, items: readonly QueryItem[]): Directions {
  const courses = items.flatMap(({ concept }): Course[] =>
    concept?.kind === 'direction' ? [{ noun: null, direction: concept.name }] : [],
  );
  return courses.length > 0 ? { courses, way: wayOf(text) } : directionsOf(text);
}

/** Whether the sentence of a visit has all words of a query in English, by their meaning. */
export function havingAll(query: string): (visit: { readonly caption: string }) => boolean {
  const asked = itemsOf(query)
    .map(termsOfItem)
    .filter((terms) => terms.length > 0);
  return ({ caption }) => {
    const terms = new Set(itemsOf(caption).flatMap(termsOfItem));
    return asked.every((some) => some.some((term) => terms.has(term)));
  };
}
