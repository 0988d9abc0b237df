/** The searched text of a change: its sentences, and the names of its place, as terms with their counts. */
import type { Change } from '../schemas/change.js';
import type { ObjectKind } from '../schemas/kinds.js';
import { type Item, itemsOf, termsOfItem } from './analysis.js';
import { type Directions, directionsOf, directionsOfStatement } from './directions.js';
import { termOf } from './lexicon.js';
import { charactersOf } from './words.js';

/** The parts of a change that are searched or filtered. */
export type SearchedChange = Pick<
  Change,
  'id' | 'camera' | 'zone' | 'kind' | 'severity' | 'caption' | 'model_caption' | 'content' | 'confirmed_at'
> & {
  readonly feedback?: { readonly caption?: string } | null;
  readonly object?: { readonly value: ObjectKind } | undefined;
};

export interface TermUse {
  count: number;
  /** as in the text */
  readonly word: string;
}

/** Sentences that one or many changes have. */
export interface AnalysedText {
  readonly terms: ReadonlyMap<string, TermUse>;
  /** number of items */
  readonly length: number;
  readonly directions: Directions;
}

/** The sentences of a change, the most trusted first: those of a person, the caption, the model's own place. */
export const sentencesOf = ({ caption, model_caption, feedback }: SearchedChange): string[] =>
  [feedback?.caption, caption, model_caption].filter((one) => one !== undefined);

/** Changes with equal keys share their analysis. */
export const textKey = (change: SearchedChange): string => JSON.stringify([change.kind, ...sentencesOf(change)]);

export function analyseText(change: SearchedChange): AnalysedText {
  const { kind, content, feedback } = change;
  const sentences = sentencesOf(change);
  const terms = new Map<string, TermUse>();
  const isOurs = content !== undefined && feedback?.caption === undefined;
  const directions = isOurs ? directionsOfStatement(content, kind) : directionsOf(sentences[0] ?? '', kind);
  let verb: string | undefined;
  let length = 0;
  for (const sentence of sentences) {
    for (const item of itemsOf(sentence)) {
      if (item.concept?.kind === 'direction') verb ??= item.surface;
      // The further sentences repeat most words of the first.
      const added = indexTermsOf(item).filter((term) => addTerm(terms, term, item.surface, sentence === sentences[0]));
      if (added.length > 0) length++;
    }
  }
  const stated = new Set([
    ...directions.courses.map(({ direction }) => direction),
    ...(kind === 'replace' ? [kind] : []),
  ]);
  for (const name of stated) addTerm(terms, termOf({ kind: 'direction', name }), verb ?? name, false);
  return { terms, length: length + stated.size, directions };
}

/** Terms that find an item: a query of a single character is answered by each pair that has it. */
function indexTermsOf(item: Item): string[] {
  const terms = termsOfItem(item);
  return [...terms, ...terms.flatMap(charactersOf)];
}

/** @returns whether the term was counted */
function addTerm(terms: Map<string, TermUse>, term: string, word: string, repeats: boolean): boolean {
  const use = terms.get(term);
  if (use === undefined) terms.set(term, { count: 1, word });
  else if (repeats) use.count++;
  else return false;
  return true;
}

/** @param names ids and names of a camera and a zone */
export function analysePlace(names: readonly string[]): ReadonlyMap<string, TermUse> {
  const terms = new Map<string, TermUse>();
  for (const item of names.flatMap(itemsOf)) {
    for (const term of indexTermsOf(item)) addTerm(terms, term, item.surface, false);
  }
  return terms;
}
