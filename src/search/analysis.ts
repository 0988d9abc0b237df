/** From a text to its items: the words and phrases that a search counts, with what they mean. */
import { type Concept, conceptOf, LONGEST_FORM, termOf } from './lexicon.js';
import { isFunctionWord, singularOf, wordsOf } from './words.js';

export interface Item {
  /** as in the text, folded */
  readonly surface: string;
  /** absent: a word outside the lexicon */
  readonly concept?: Concept;
}

/** "left" is a place after these words or before those, and otherwise a verb: "a car has left the left lane". */
const BEFORE_PLACE = new Set(
  'the on at to in from lower upper bottom top far front back near middle slightly its your our'.split(' '),
);
const AFTER_PLACE = new Set('side edge of hand half corner lane part end third most camera'.split(' '));

/** @returns the items in the order of the text, without function words */
export function itemsOf(text: string): Item[] {
  const words = wordsOf(text);
  const items: Item[] = [];
  for (let i = 0; i < words.length; ) {
    const found = phraseAt(words, i);
    if (found === null) {
      const surface = words[i++] as string;
      if (!isFunctionWord(surface)) items.push({ surface });
      continue;
    }
    items.push(found.item);
    i += found.length;
  }
  return items;
}

/** The longest phrase of the lexicon that begins at this word; null if there is none. */
function phraseAt(words: readonly string[], at: number): { item: Item; length: number } | null {
  for (let length = Math.min(LONGEST_FORM, words.length - at); length > 0; length--) {
    const surface = words.slice(at, at + length).join(' ');
    const concept = surface === 'left' ? verbLeft(words, at) : conceptOf(surface);
    if (concept !== undefined) return { item: { surface, concept }, length };
  }
  return null;
}

function verbLeft(words: readonly string[], at: number): Concept | undefined {
  const isPlace = at === 0 || BEFORE_PLACE.has(words[at - 1] as string) || AFTER_PLACE.has(words[at + 1] ?? '');
  return isPlace ? undefined : { kind: 'direction', name: 'disappear' };
}

/** Terms of an item in the index: its meaning, and the words themselves unless they are a verb of a direction. */
export function termsOfItem({ surface, concept }: Item): string[] {
  if (concept?.kind === 'direction') return [];
  const literal = surface.split(' ').map(singularOf);
  return concept === undefined ? literal : [termOf(concept), ...literal];
}
