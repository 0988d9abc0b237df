/**
 * Clauses of several locations: things of one kind and noun are one clause, with their number ("two cars have left").
 * Colours that differ follow it ("..., one red and one white"); a place that differs is left out.
 */
import type { Likely, Names } from '../model/naming.js';
import { SOMETHING, widerWords } from '../model/naming.js';
import { writePhrase } from '../model/noun-phrase.js';
import { type Sentence, toClause } from '../model/tokenizer.js';
import type { LocationFact, LocationStatement, WordAttention } from './statements.js';

/** A clause of the sentence, with the locations that it describes. */
export type ToldClause = Pick<LocationStatement, 'kind' | 'attention' | 'regions'> & { readonly clause: Sentence };

const COUNT_WORDS: Readonly<Record<number, string>> = { 1: 'one', 2: 'two', 3: 'three', 4: 'four', 5: 'five' };
/** As `count` of a fact: at least as many. */
const SEVERAL = 4;
type Vocabulary = Pick<Names, 'plural' | 'wider'>;

/**
 * Things of one kind, noun and colour are one group. Things of other colours join it if they are at the same place,
 * which the clause then keeps; at other places only if there were more than `most` clauses otherwise.
 * @param statements the strongest first
 * @returns the groups of one clause, in the order of their strongest
 */
export function groupAlike(statements: readonly LocationStatement[], most: number): LocationStatement[][] {
  const single = statements.map((one) => [one]);
  const here = joinGroups(joinGroups(single, isOfOneColour), isAtOnePlace);
  return here.length <= most ? here : joinGroups(here, () => true);
}

type Agrees = (a: LocationFact, b: LocationFact) => boolean;

const isOfOneColour: Agrees = (a, b) => a.colour?.value === b.colour?.value;
const isAtOnePlace: Agrees = (a, b) => (a.place ?? a.way)?.value === (b.place ?? b.way)?.value;

/** Joins each group to the first before it that a count can join it with, if all of their things `agree`. */
function joinGroups(groups: readonly LocationStatement[][], agree: Agrees): LocationStatement[][] {
  const joined: LocationStatement[][] = [];
  for (const group of groups) {
    const at = joined.findIndex((other) => other.every((a) => group.every((b) => isAlike(a, b, agree))));
    if (at < 0) joined.push(group);
    else joined[at] = [...(joined[at] as LocationStatement[]), ...group];
  }
  return joined;
}

/** Only statements about one kind of thing, which a count can join; "a car and a van" stay apart. */
function isAlike(a: LocationStatement, b: LocationStatement, agree: Agrees): boolean {
  const [one, other] = [onlyFact(a), onlyFact(b)];
  if (one === null || other === null || a.kind !== b.kind) return false;
  return one.noun.value === other.noun.value && agree(one, other);
}

const onlyFact = ({ facts, kind }: LocationStatement): LocationFact | null =>
  kind !== 'replace' && facts.length === 1 ? (facts[0] as LocationFact) : null;

/** @param group of `groupAlike`. @param names absent = of a bundle that names nothing, whose groups have one member */
export function tellGroup(group: readonly LocationStatement[], names: Vocabulary | undefined): ToldClause {
  const first = group[0] as LocationStatement;
  if (group.length === 1 || names === undefined) return first;
  const facts = group.flatMap((one) => onlyFact(one) ?? []);
  const noun = facts[0]?.noun.value as string;
  const several = noun === SOMETHING ? 'things' : (names.plural[noun] ?? `${noun}s`);
  const colour = noun === SOMETHING ? null : shared(facts.map((fact) => fact.colour));
  const count = countWord(facts);
  const like = { count, definite: false, garment: null, colour: null, noun, from: 0, to: 0, nounAt: 0, colourAt: null };
  const wider = widerWords(noun, names.wider);
  const where = shared(facts.map((fact) => fact.place ?? fact.way));
  const wears = wider.includes('person');
  const named = { noun, colour: colour?.value ?? null, wears };
  const colours = colour === null && noun !== SOMETHING ? colourParts(facts, wears) : [];
  const parts: Part[] = [
    [writePhrase(like, named, several), Math.min(...facts.map((fact) => fact.noun.probability))],
    [first.kind === 'disappear' ? (where?.value ?? '') : '', where?.probability ?? 0],
    [verbOf(first.kind, wider), Math.min(...facts.map((fact) => fact.kind.probability))],
    [first.kind === 'disappear' ? '' : (where?.value ?? ''), where?.probability ?? 0],
  ];
  const words = [...withComma(wordsOf(parts), colours.length > 0), ...wordsOf(colours)];
  const singular = new Set(noun.split(' '));
  const plural = new Set(several.split(' '));
  return {
    kind: first.kind,
    regions: group.flatMap(({ regions }) => regions),
    clause: toClause(words),
    attention: words.map(({ text }) =>
      joined(group.map((one) => attentionOf(one, plural.has(text) ? [...singular, ...plural] : [text]))),
    ),
  };
}

type Part = readonly [text: string, probability: number];

const wordsOf = (parts: readonly Part[]) =>
  parts.flatMap(([text, score]) => (text === '' ? [] : text.split(' ').map((word) => ({ text: word, score }))));

/** The words with a comma after the last one, if there `is` to be one. */
export const withComma = <W extends { readonly text: string }>(words: readonly W[], is: boolean): W[] =>
  words.map((word, i) => (is && i === words.length - 1 ? { ...word, text: `${word.text},` } : word));

/** "one in red and two in black": the colours that are known, each with the number of the things that have it. */
function colourParts(facts: readonly LocationFact[], wears: boolean): Part[] {
  const known = new Map<string, LocationFact[]>();
  for (const fact of facts) {
    if (fact.colour !== null) known.set(fact.colour.value, [...(known.get(fact.colour.value) ?? []), fact]);
  }
  return [...known].map(([colour, own], i) => {
    const worn = colour === 'dark' ? 'in dark clothes' : `in ${colour}`;
    const before = i > 0 && i === known.size - 1 ? 'and ' : '';
    const text = `${before}${countWord(own)} ${wears ? worn : colour}${i < known.size - 2 ? ',' : ''}`;
    return [text, Math.min(...own.map((fact) => fact.colour?.probability ?? 0))];
  });
}

/** The value that all of them have, with the least probability; null if they differ, or if one is unknown. */
function shared(values: readonly (Likely | null)[]): Likely | null {
  const [first] = values;
  if (first === undefined || values.some((one) => one?.value !== first?.value)) return null;
  return first && { value: first.value, probability: Math.min(...values.map((one) => one?.probability ?? 0)) };
}

function countWord(facts: readonly LocationFact[]): string {
  const total = facts.reduce((sum, { count }) => sum + count.value, 0);
  return facts.some(({ count }) => count.value >= SEVERAL) ? 'several' : (COUNT_WORDS[total] ?? 'several');
}

function verbOf(kind: LocationStatement['kind'], wider: readonly string[]): string {
  if (kind === 'appear') return 'have appeared';
  if (kind === 'move') return 'have moved';
  return wider.some((word) => ['person', 'vehicle', 'animal'].includes(word)) ? 'have left' : 'are gone';
}

/** The attention of the last of these words in the clause. */
function attentionOf({ clause, attention }: LocationStatement, texts: readonly string[]): WordAttention | null {
  const at = clause.words.findLastIndex(({ text }) => texts.some((own) => text === own.replace(/,$/, '')));
  return attention[at] ?? null;
}

function joined(own: readonly (WordAttention | null)[]): WordAttention | null {
  const [first, ...others] = own.filter((one) => one !== null);
  return first === undefined ? null : { ...first, others };
}
