/**
 * Clauses of several locations: things of one kind, role and noun are one clause, with their number ("two cars have
 * left"). A place that differs between them is left out.
 */
import type { Likely, Names } from '../model/naming.js';
import { SOMETHING, widerWords } from '../model/naming.js';
import { writePhrase } from '../model/noun-phrase.js';
import { type Sentence, toClause } from '../model/tokenizer.js';
import type { LocationFact, LocationStatement, WordAttention } from './statements.js';

/** A clause of the sentence, with the locations that it describes. */
export type ToldClause = Pick<LocationStatement, 'kind' | 'attention' | 'regions'> & { readonly clause: Sentence };

const COUNT_WORDS: Readonly<Record<number, string>> = { 2: 'two', 3: 'three', 4: 'four', 5: 'five' };
/** As `count` of a fact: at least as many. */
const SEVERAL = 4;
type Vocabulary = Pick<Names, 'plural' | 'wider'>;

/**
 * @param statements the strongest first
 * @returns the groups of one clause, in the order of their strongest
 */
export function groupAlike(statements: readonly LocationStatement[]): LocationStatement[][] {
  const groups: LocationStatement[][] = [];
  for (const statement of statements) {
    const group = groups.find(([first]) => first !== undefined && isAlike(first, statement));
    if (group === undefined) groups.push([statement]);
    else group.push(statement);
  }
  return groups;
}

/** Only statements about one kind of thing, which a count can join; "a red car and a white car" stay apart. */
function isAlike(a: LocationStatement, b: LocationStatement): boolean {
  const [one, other] = [onlyFact(a), onlyFact(b)];
  if (one === null || other === null || a.kind !== b.kind || one.noun.value !== other.noun.value) return false;
  return one.colour?.value === other.colour?.value;
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
  const named = { noun, colour: colour?.value ?? null, wears: wider.includes('person') };
  const where = shared(facts.map((fact) => fact.place ?? fact.way));
  const parts: (readonly [text: string, probability: number])[] = [
    [writePhrase(like, named, several), Math.min(...facts.map((fact) => fact.noun.probability))],
    [first.kind === 'disappear' ? (where?.value ?? '') : '', where?.probability ?? 0],
    [verbOf(first.kind, wider), Math.min(...facts.map((fact) => fact.kind.probability))],
    [first.kind === 'disappear' ? '' : (where?.value ?? ''), where?.probability ?? 0],
  ];
  const words = parts.flatMap(([text, score]) =>
    text === '' ? [] : text.split(' ').map((word) => ({ text: word, score })),
  );
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
  const at = clause.words.findLastIndex(({ text }) => texts.includes(text));
  return attention[at] ?? null;
}

function joined(own: readonly (WordAttention | null)[]): WordAttention | null {
  const [first, ...others] = own.filter((one) => one !== null);
  return first === undefined ? null : { ...first, others };
}
