/**
 * Facts: noun, colour, count, place and way of the things at a location, with their probabilities, and the clause of
 * the location in words that are probable enough. The names come from the pictures of the thing, joined with the
 * decoder's own words.
 */
import { OTHER_SIDE, type Side } from '../images.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { PairNames } from '../model/graph-io.js';
import {
  type Decoded,
  type Likely,
  likelyClass,
  likelyColour,
  likelyNoun,
  listed,
  type Names,
  SOMETHING,
  thingNames,
  widerWords,
} from '../model/naming.js';
import { type NounPhrase, nounPhrasesOf, writePhrase } from '../model/noun-phrase.js';
import { toClause } from '../model/tokenizer.js';
import { clauseProbability, evidenceOf } from './clause-probability.js';
import { findPlace, findWay, likelyPlace, likelyWay, type PhraseAt } from './place-facts.js';
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
/** Verbs of motion that need a way: "has driven" alone says nothing. */
const NEEDS_WAY = /^(?:walked|driven|shifted)$/;

/** Everything that decides the words of a statement. */
export interface Wording {
  readonly names: Names;
  /** absent = the scores of the graphs */
  readonly calibration: FactCalibration | undefined;
  /** of the manifest */
  readonly kinds: readonly string[];
  /** share of the things said that must be true, 0..1 */
  readonly truth: number;
}

/**
 * The statement with its probability and its facts, in words whose probability reaches `truth`. A clause of two things
 * at one location keeps the words of the decoder.
 * @param all names of all crops, in their order
 * @param ends of the same description
 */
export function nameStatement(
  statement: LocationStatement,
  all: readonly PairNames[],
  ends: Description['ends'],
  wording: Wording,
): LocationStatement {
  const { names, calibration, kinds, truth } = wording;
  const shown = statement.at.map((i) => all[i] as PairNames);
  const words = statement.clause.words.map(({ text }) => text);
  const phrases = nounPhrasesOf(words);
  const evidence = calibration && evidenceOf(statement, all, ends, kinds);
  const probability = evidence ? clauseProbability(evidence, calibration.clause) : statement.probability;
  const sides = sidesOf(statement, phrases);
  if (sides === null) return { ...statement, probability };
  const things = phrases.map((phrase, i) => {
    const own = sides[i] as readonly Side[];
    const seen = own.map((side) => (side === 'before' ? shown[0] : shown.at(-1))?.[side]);
    const thing = thingNames(
      seen.filter((one) => one !== undefined),
      names,
      decodedAt(statement, own, names),
    );
    return {
      phrase,
      sides: own,
      noun: likelyNoun(thing, names, truth),
      nouns: listed(thing.nouns),
      class: likelyClass(thing, names),
      colours: listed(thing.colours),
      colour: likelyColour(thing, names, truth),
    };
  });
  const clause: ClauseWord[] = statement.clause.words.map((word, i) => ({
    ...word,
    attention: statement.attention[i] ?? null,
  }));
  const isMove = statement.kind === 'move';
  const at = isMove ? findWay(words) : findPlace(words);
  const stated = at && statedPhrase(clause, at);
  const place = isMove ? null : likelyPlace(stated, statement.regions, calibration, truth);
  const way = isMove ? likelyWay(stated, statement.regions, calibration, truth) : null;
  const facts = things.map(
    ({ phrase, sides: own, noun, nouns, class: likely, colour, colours }): LocationFact => ({
      kind: { value: statement.kind, probability },
      noun,
      nouns,
      class: likely,
      colour,
      colours,
      count: countOf(clause, phrase, calibration),
      place,
      way,
      regions: statement.regions.filter(({ side }) => own.includes(side)),
    }),
  );
  const edits: Edit[] = things.map(({ phrase, noun, colour }) => ({
    ...phrase,
    words: phraseWords(clause, phrase, noun, colour, names),
  }));
  if (at !== null) edits.push({ ...at, words: placeWords(clause, at, place ?? way) });
  const [subject] = things;
  const wider = widerWords(subject?.noun.value ?? SOMETHING, names.wider);
  const written = fitVerb(edited(clause, edits), wider, at !== null && place === null && way === null);
  return {
    ...statement,
    probability,
    facts,
    clause: toClause(written),
    attention: written.map(({ attention }) => attention),
  };
}

/** The words of the caption graph, in both directions, for the thing that these frames show. */
function decodedAt({ clause, kind, written }: LocationStatement, sides: readonly Side[], names: Names): Decoded[] {
  const clauses = written ?? [{ words: clause.words.map(({ text }) => text), kind, reversed: false }];
  return clauses.flatMap((one) => {
    const phrases = nounPhrasesOf(one.words);
    const shown = sidesOf(one, phrases)?.map((own) => (one.reversed ? own.map((side) => OTHER_SIDE[side]) : own));
    const at =
      shown?.findIndex((own) => own.length === sides.length && own.every((side) => sides.includes(side))) ?? -1;
    const phrase = phrases[at];
    return phrase === undefined ? [] : [{ noun: singular(phrase, names), colour: phrase.colour }];
  });
}

interface Edit extends PhraseAt {
  readonly words: readonly ClauseWord[];
}

/** The clause with other words in place of some phrases, which do not overlap. */
function edited(clause: readonly ClauseWord[], edits: readonly Edit[]): ClauseWord[] {
  const words = [...clause];
  // From the end, so that the positions of the phrases before stay.
  for (const { from, to, words: own } of [...edits].sort((a, b) => b.from - a.from)) {
    words.splice(from, to - from, ...own);
  }
  return words;
}

/** The phrase with the probability of all of its words. */
const statedPhrase = (clause: readonly ClauseWord[], { from, to }: PhraseAt): Likely => {
  const own = clause.slice(from, to);
  return {
    value: own.map(({ text }) => text).join(' '),
    probability: own.reduce((product, { score }) => product * score, 1),
  };
};

/** A phrase that stays keeps its words; another one has the attention of the last word that it replaces. */
function placeWords(clause: readonly ClauseWord[], { from, to }: PhraseAt, likely: Likely | null): ClauseWord[] {
  const own = clause.slice(from, to);
  if (likely === null) return [];
  if (likely.value === own.map(({ text }) => text).join(' ')) return own;
  const attention = own.at(-1)?.attention ?? null;
  return likely.value.split(' ').map((text) => ({ text, score: likely.probability, attention }));
}

function countOf(
  clause: readonly ClauseWord[],
  { count, from }: NounPhrase,
  calibration: FactCalibration | undefined,
): LocationFact['count'] {
  const at = clause.slice(from).find(({ text }) => text === count);
  const score = at?.score ?? clause[from]?.score ?? 0;
  return count === null
    ? { value: 1, probability: calibration?.one ?? score }
    : { value: COUNT_OF[count] as number, probability: calibration?.several ?? score };
}

/**
 * The clause with a verb that is true of its subject, and that needs no place if it has none: "is now" becomes "has
 * appeared", "has driven" becomes "has moved".
 */
function fitVerb(clause: readonly ClauseWord[], wider: readonly string[], placeless: boolean): ClauseWord[] {
  const words = clause.flatMap((word) => {
    const rule = NARROW_VERBS.find(([verb, holds]) => verb.test(word.text) && !wider.some((k) => holds.includes(k)));
    const text = rule?.[2] ?? (placeless && NEEDS_WAY.test(word.text) ? 'moved' : word.text);
    return text === '' ? [] : [{ ...word, text }];
  });
  const [last, before] = [words.at(-1), words.at(-2)];
  if (!placeless || last?.text !== 'now' || !/^(?:is|are)$/.test(before?.text ?? '') || words[0]?.text === 'there') {
    return words;
  }
  const verb = before?.text === 'are' ? 'have' : 'has';
  return [...words.slice(0, -2), { ...(before as ClauseWord), text: verb }, { ...last, text: 'appeared' }];
}

function singular({ noun, count }: NounPhrase, { plural }: Names): string {
  if (count === null) return noun;
  return Object.entries(plural).find(([, several]) => several === noun)?.[0] ?? noun;
}

/** @param shown names of all crops, in their order */
export const nameAll = (description: Description, shown: readonly PairNames[], wording: Wording): Description => ({
  ...description,
  statements: description.statements.map((one) => nameStatement(one, shown, description.ends, wording)),
});

/** The frames that show the thing of each phrase; null for a clause of several things. */
function sidesOf(
  { kind }: Pick<LocationStatement, 'kind'>,
  phrases: readonly NounPhrase[],
): (readonly Side[])[] | null {
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
