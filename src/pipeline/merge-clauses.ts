/**
 * Clauses of several locations: things of one kind and noun are one clause, with their number ("two cars have left").
 * Colours that differ follow it ("..., one red and one white"); a place that differs is left out.
 */
import { tableOf } from '../language/table.js';
import { type Role, SOMETHING, type Word } from '../language/thing.js';
import { writeWords } from '../language/write.js';
import type { Likely } from '../model/naming.js';
import type { Thing } from '../schemas/statement.js';
import {
  isOpen,
  type JudgedStatement,
  type LocationFact,
  type LocationStatement,
  SEVERAL,
  stateOf,
} from './location-statement.js';
import type { ScoredWord, WordAttention } from './scored-words.js';

/** A clause of the sentence, with the locations that it describes. */
export type GroupStatement = Pick<LocationStatement, 'statement' | 'words' | 'regions'>;

/** The greatest number that has a word; the last word is "several". */
const MOST_COUNTED = tableOf('en').counts.length - 1;

/**
 * Things of one kind, noun and colour are one group. Things of other colours join it if they are at the same place,
 * which the clause then keeps; at other places only if there were more than `most` clauses otherwise.
 * @param statements the strongest first
 * @returns the groups of one clause, in the order of their strongest
 */
export function groupAlike(statements: readonly JudgedStatement[], most: number): JudgedStatement[][] {
  const single = statements.map((one) => [one]);
  const here = joinGroups(joinGroups(single, isOfOneColour), isAtOnePlace);
  return here.length <= most ? here : joinGroups(here, () => true);
}

type Agrees = (a: LocationFact, b: LocationFact) => boolean;

const isOfOneColour: Agrees = (a, b) => a.colour?.value === b.colour?.value;
const isAtOnePlace: Agrees = (a, b) => (a.place ?? a.way)?.value === (b.place ?? b.way)?.value;

/**
 * Joins each group to the first before it whose things all changed in the same way, are of the same kind and `agree`;
 * "a car and a van" stay apart.
 */
function joinGroups(groups: readonly JudgedStatement[][], agree: Agrees): JudgedStatement[][] {
  const isAlike = ({ fact: a }: JudgedStatement, { fact: b }: JudgedStatement): boolean =>
    a.kind.value === b.kind.value && a.noun.value === b.noun.value && agree(a, b);
  const joined: JudgedStatement[][] = [];
  for (const group of groups) {
    const same = joined.find((other) => other.every((a) => group.every((b) => isAlike(a, b))));
    if (same === undefined) joined.push([...group]);
    else same.push(...group);
  }
  return joined;
}

/** @param group of `groupAlike` */
export function joinGroup(group: readonly JudgedStatement[]): GroupStatement {
  const { statement: first, fact } = group[0] as JudgedStatement;
  if (group.length === 1) return group[0] as JudgedStatement;
  const facts = group.map((one) => one.fact);
  const noun = fact.noun.value;
  const colour = noun === SOMETHING ? null : shared(facts.map((one) => one.colour));
  const where = shared(facts.map((one) => one.place ?? one.way));
  const parts = colour === null && noun !== SOMETHING ? partsOf(group) : [];
  const thing: Thing = { noun, colour: colour?.value ?? null, count: countOf(group), definite: false };
  const named = parts.length === 0 ? thing : { ...thing, parts: parts.map(({ part }) => part) };
  const open = group.some((one) => isOpen(one.statement));
  const statement = stateOf(first.kind, named, where, open);
  const place = where?.probability ?? 0;
  const scores: Partial<Record<Role, number>> = { place, way: place, verb: least(facts.map(({ kind }) => kind)) };
  const score = least(facts.map((one) => one.noun));
  return {
    statement,
    regions: group.flatMap(({ regions }) => regions),
    words: writeWords(statement).map((word): ScoredWord => {
      const part = word.role === 'part' ? parts[word.thing as number] : undefined;
      const attention = joined((part?.of ?? group).map((one) => attentionOf(one, word)));
      return { ...word, score: part?.score ?? scores[word.role] ?? score, attention };
    }),
  };
}

interface Part {
  readonly part: NonNullable<Thing['parts']>[number];
  readonly score: number;
  readonly of: readonly JudgedStatement[];
}

/** "one in red and two in black": the colours that are known, each with the number of the things that have it. */
function partsOf(group: readonly JudgedStatement[]): Part[] {
  const colours = new Set(group.flatMap(({ fact }) => fact.colour?.value ?? []));
  return [...colours].map((colour) => {
    const of = group.filter(({ fact }) => fact.colour?.value === colour);
    return { part: { count: countOf(of), colour }, score: least(of.map(({ fact }) => fact.colour)), of };
  });
}

/** The value that all of them have, with the least probability; null if they differ, or if one is unknown. */
function shared(values: readonly (Likely | null)[]): Likely | null {
  const [first] = values;
  if (!first || values.some((one) => one?.value !== first.value)) return null;
  return { value: first.value, probability: least(values) };
}

const least = (values: readonly ({ readonly probability: number } | null)[]): number =>
  Math.min(...values.map((one) => one?.probability ?? 0));

/** @returns null: several */
function countOf(group: readonly JudgedStatement[]): number | null {
  const counts = group.map(({ fact }) => fact.count.value);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total > MOST_COUNTED || Math.max(...counts) >= SEVERAL ? null : total;
}

/** The attention of the last word with this role; of the part of a group, of the word of its colour. */
const attentionOf = ({ words }: LocationStatement, { role }: Word): WordAttention | null =>
  words.findLast((word) => word.role === (role === 'part' ? 'colour' : role))?.attention ?? null;

function joined(attentions: readonly (WordAttention | null)[]): WordAttention | null {
  const [first, ...others] = attentions.filter((one) => one !== null);
  return first === undefined ? null : { ...first, others };
}
