/**
 * Facts: noun and colour of the things at a location, with their probabilities, and the clause of the location in
 * words that are probable enough. The names come from the pictures of the thing, joined with the decoder's own words.
 */
import type { Side } from '../images.js';
import type { PairNames } from '../model/graph-io.js';
import {
  type Likely,
  likelyColour,
  likelyNoun,
  likelyNouns,
  type Names,
  SOMETHING,
  thingNames,
  widerWords,
} from '../model/naming.js';
import { type NounPhrase, nounPhrasesOf, writePhrase } from '../model/noun-phrase.js';
import { toClause } from '../model/tokenizer.js';
import type { Description, LocationFact, LocationStatement, WordAttention } from './statements.js';

interface ClauseWord {
  readonly text: string;
  readonly score: number;
  readonly attention: WordAttention | null;
}

const COUNT_OF: Readonly<Record<string, number>> = { two: 2, three: 3, several: 4 };
/** Verbs of some things only, and the verb that is true of all. */
const NARROW_VERBS: readonly (readonly [pattern: RegExp, holds: readonly string[], general: string])[] = [
  [/^walked$/, ['person', 'animal'], 'moved'],
  [/^driven$/, ['vehicle'], 'moved'],
  [/^arrived$/, ['person', 'vehicle'], 'appeared'],
  [/^standing$/, ['person'], ''],
  [/^parked$/, ['vehicle'], ''],
];

/**
 * The statement with its facts, in words whose probability reaches `truth`. A clause of two things at one location
 * keeps the words of the decoder.
 * @param shown names of the crops of the location: one, or those of both ends of a move
 * @param truth share of the stated nouns that must be true, 0..1
 */
export function nameStatement(
  statement: LocationStatement,
  shown: readonly PairNames[],
  names: Names,
  truth: number,
): LocationStatement {
  const words = statement.clause.words.map(({ text }) => text);
  const phrases = nounPhrasesOf(words);
  const sides = sidesOf(statement, phrases);
  if (sides === null) return statement;
  const things = phrases.map((phrase, i) => {
    const own = sides[i] as readonly Side[];
    const seen = own.map((side) => (side === 'before' ? shown[0] : shown.at(-1))?.[side]);
    const thing = thingNames(
      seen.filter((one) => one !== undefined),
      names,
      { noun: singular(phrase, names), colour: phrase.colour },
    );
    return {
      phrase,
      sides: own,
      noun: likelyNoun(thing, names, truth),
      nouns: likelyNouns(thing),
      colour: likelyColour(thing, names, truth),
    };
  });
  const facts = things.map(
    ({ phrase, sides: own, noun, nouns, colour }): LocationFact => ({
      kind: statement.kind,
      noun,
      nouns,
      colour,
      count: phrase.count === null ? 1 : (COUNT_OF[phrase.count] as number),
      regions: statement.regions.filter(({ side }) => own.includes(side)),
    }),
  );
  const clauseWords: ClauseWord[] = statement.clause.words.map((word, i) => ({
    ...word,
    attention: statement.attention[i] ?? null,
  }));
  // From the end, so that the positions of the phrases before stay.
  for (const { phrase, noun, colour } of things.toReversed()) {
    clauseWords.splice(phrase.from, phrase.to - phrase.from, ...phraseWords(clauseWords, phrase, noun, colour, names));
  }
  const [subject] = things;
  const kind = widerWords(subject?.noun.value ?? SOMETHING, names.wider);
  const verbs = clauseWords.flatMap((word) => {
    const rule = NARROW_VERBS.find(
      ([pattern, holds]) => pattern.test(word.text) && !kind.some((k) => holds.includes(k)),
    );
    return rule === undefined ? [word] : rule[2] === '' ? [] : [{ ...word, text: rule[2] }];
  });
  return { ...statement, facts, clause: toClause(verbs), attention: verbs.map(({ attention }) => attention) };
}

function singular({ noun, count }: NounPhrase, { plural }: Names): string {
  if (count === null) return noun;
  return Object.entries(plural).find(([, several]) => several === noun)?.[0] ?? noun;
}

/** @param shown names of all crops, in their order */
export const nameAll = (
  description: Description,
  shown: readonly PairNames[],
  names: Names,
  truth: number,
): Description => ({
  ...description,
  statements: description.statements.map((one) => {
    const own = one.at.map((i) => shown[i] as PairNames);
    return nameStatement(one, own, names, truth);
  }),
});

/** The frames that show the thing of each phrase; null for a clause of several things. */
function sidesOf({ kind }: LocationStatement, phrases: readonly NounPhrase[]): (readonly Side[])[] | null {
  if (kind === 'replace') {
    const former = phrases.filter(({ definite }) => definite).length;
    return phrases.length === 2 && former === 1 ? phrases.map(({ definite }) => [definite ? 'before' : 'after']) : null;
  }
  if (phrases.length !== 1) return null;
  return [kind === 'move' ? ['before', 'after'] : [kind === 'appear' ? 'after' : 'before']];
}

/** The words of the phrase: those that stay keep their score, the others have that of the fact. */
function phraseWords(
  clause: readonly ClauseWord[],
  phrase: NounPhrase,
  noun: Likely,
  colour: Likely | null,
  { plural, wider }: Names,
): ClauseWord[] {
  const wears = widerWords(noun.value, wider).includes('person');
  const several = noun.value === SOMETHING ? 'things' : (plural[noun.value] ?? `${noun.value}s`);
  const named = { noun: noun.value, colour: noun.value === SOMETHING ? null : (colour?.value ?? null), wears };
  const nounAttention = clause[phrase.nounAt]?.attention ?? null;
  const first = clause[phrase.from]?.score ?? noun.probability;
  const nounWords = new Set(`${noun.value} ${several}`.split(' '));
  const colourWords = new Set(colour?.value.split(' ') ?? []);
  return writePhrase(phrase, named, several)
    .split(' ')
    .map((text) => {
      if (nounWords.has(text)) return { text, score: noun.probability, attention: nounAttention };
      if (colour !== null && colourWords.has(text)) {
        const attention = (phrase.colourAt === null ? null : clause[phrase.colourAt]?.attention) ?? nounAttention;
        return { text, score: colour.probability, attention };
      }
      return { text, score: first, attention: null };
    });
}
