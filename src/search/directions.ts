/**
 * Directions of sentences: what appeared, disappeared or moved which way. The caption reader of the evaluation reads
 * them; a query that is no sentence ("cars leaving") has them by its words.
 */
import { readCaption } from '../language/people/captions.js';
import { canonicalNoun } from '../language/people/nouns.js';
import type { ChangeKind } from '../schemas/kinds.js';
import type { Statement } from '../schemas/statement.js';
import type { SearchDirection } from './lexicon.js';

type Way = 'left' | 'right' | 'closer' | 'further';

/** The direction of one thing of a sentence. */
export interface Course {
  /** canonical noun; null: of everything in the sentence */
  readonly noun: string | null;
  readonly direction: SearchDirection;
}
export interface Directions {
  readonly courses: readonly Course[];
  /** of a move; null if the sentence states none */
  readonly way: Way | null;
}

const WAYS: readonly (readonly [way: Way, phrase: RegExp])[] = [
  ['left', /\bto the left\b/],
  ['right', /\bto the right\b/],
  ['further', /\b(?:further|farther|away from the camera)\b/],
  ['closer', /\b(?:closer|nearer|towards the camera)\b/],
];
const OPPOSITE: Readonly<Record<string, string>> = {
  appear: 'disappear',
  disappear: 'appear',
  left: 'right',
  right: 'left',
  closer: 'further',
  further: 'closer',
};

/** @param kind of the change, for a sentence that the reader does not understand */
export function directionsOf(sentence: string, kind?: ChangeKind): Directions {
  const read = readCaption(sentence).mentions.map(({ noun, direction }) => ({
    noun,
    direction: direction === 'alter' ? ('replace' as const) : direction,
  }));
  const known = kind === undefined || kind === 'tamper' ? [] : [{ noun: null, direction: kind }];
  return { courses: read.length > 0 ? read : known, way: wayOf(sentence) };
}

/** The directions that a statement has as a value. @param change kind of the change, for one that states none */
export function directionsOfStatement({ kind, things, way }: Statement, change: ChangeKind): Directions {
  if (kind === 'tamper' || change === 'tamper') return { courses: [], way: null };
  if (kind === 'none' || kind === 'change') return { courses: [{ noun: null, direction: change }], way: null };
  const [former, next] = things;
  const courses =
    kind === 'replace' && former !== undefined && next !== undefined
      ? [
          { noun: former.noun, direction: 'disappear' as const },
          { noun: next.noun, direction: 'appear' as const },
        ]
      : things.map(({ noun }) => ({ noun, direction: kind }));
  const named = courses.map(({ noun, direction }) => ({ noun: canonicalNoun(noun), direction }));
  return { courses: named, way: way === null ? null : wayOf(way) };
}

export const wayOf = (sentence: string): Way | null =>
  WAYS.find(([, phrase]) => phrase.test(sentence.toLowerCase()))?.[0] ?? null;

/**
 * Whether a text states the opposite of a query: the asked thing appeared and did not disappear, or it moved the other
 * way.
 * @param nouns canonical nouns that answer the query's nouns; empty: every thing of the text counts
 */
export function isOpposite(query: Directions, text: Directions, nouns: ReadonlySet<string>): boolean {
  if (query.way !== null && text.way !== null && OPPOSITE[query.way] === text.way) return true;
  const asked = new Set(query.courses.map(({ direction }) => direction));
  const matching = text.courses.filter(({ noun }) => noun === null || nouns.size === 0 || nouns.has(noun));
  const stated = new Set((matching.length > 0 ? matching : text.courses).map(({ direction }) => direction));
  const against = [...asked].some((direction) => stated.has(OPPOSITE[direction] as SearchDirection));
  return against && ![...asked].some((direction) => stated.has(direction));
}
