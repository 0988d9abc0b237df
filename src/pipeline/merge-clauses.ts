/**
 * Clauses of several locations: things of one kind and noun are one clause, with their number ("two cars have left").
 * Colours that differ follow it ("..., one red and one white"); a place that differs is left out.
 */
import type { ChangeStatement } from '../language/plain.js';
import { classOf, SOMETHING, type Word } from '../language/thing.js';
import { writeWords } from '../language/write.js';
import type { Likely } from '../model/naming.js';
import type { Thing } from '../schemas/statement.js';
import type { LocationFact, LocationStatement } from './location-statement.js';
import type { ScoredWord, WordAttention } from './scored-words.js';

/** A clause of the sentence, with the locations that it describes. */
export type GroupStatement = Pick<LocationStatement, 'statement' | 'words' | 'regions'>;

/** As `count` of a fact: at least as many. */
const SEVERAL = 4;
/** The greatest number that a sentence names. */
const MOST_COUNTED = 5;

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
  if (one === null || other === null || a.statement.kind !== b.statement.kind) return false;
  return one.noun.value === other.noun.value && agree(one, other);
}

const onlyFact = ({ facts, statement }: LocationStatement): LocationFact | null =>
  statement.kind !== 'replace' && facts.length === 1 ? (facts[0] as LocationFact) : null;

/** @param group of `groupAlike`; of a bundle that names nothing it has one member */
export function joinGroup(group: readonly LocationStatement[]): GroupStatement {
  const first = group[0] as LocationStatement;
  const facts = group.flatMap((one) => onlyFact(one) ?? []);
  if (group.length === 1 || facts.length === 0) return first;
  const noun = facts[0]?.noun.value as string;
  const colour = noun === SOMETHING ? null : shared(facts.map((fact) => fact.colour));
  const where = shared(facts.map((fact) => fact.place ?? fact.way));
  const parts = colour === null && noun !== SOMETHING ? partsOf(facts) : [];
  const thing: Thing = { noun, colour: colour?.value ?? null, count: countOf(facts), definite: false };
  const { kind } = first.statement;
  const statement: ChangeStatement = {
    kind,
    verb: verbOf(kind, thing),
    things: [parts.length === 0 ? thing : { ...thing, parts: parts.map(({ part }) => part) }],
    place: kind === 'move' ? null : (where?.value ?? null),
    way: kind === 'move' ? (where?.value ?? null) : null,
  };
  const scores = {
    place: where?.probability ?? 0,
    verb: Math.min(...facts.map((fact) => fact.kind.probability)),
    thing: Math.min(...facts.map((fact) => fact.noun.probability)),
  };
  const scoreOf = ({ role, thing: at }: Word): number => {
    if (role === 'place' || role === 'way') return scores.place;
    if (role === 'part') return parts[at as number]?.score ?? 0;
    return role === 'verb' ? scores.verb : scores.thing;
  };
  return {
    statement,
    regions: group.flatMap(({ regions }) => regions),
    words: writeWords(statement).map((word): ScoredWord => {
      const members =
        word.role === 'part' ? group.filter((_, i) => parts[word.thing as number]?.of.includes(i)) : group;
      return { ...word, score: scoreOf(word), attention: joined(members.map((one) => attentionOf(one, word))) };
    }),
  };
}

interface Part {
  readonly part: NonNullable<Thing['parts']>[number];
  readonly score: number;
  /** positions of its facts */
  readonly of: readonly number[];
}

/** "one in red and two in black": the colours that are known, each with the number of the things that have it. */
function partsOf(facts: readonly LocationFact[]): Part[] {
  const colours = [...new Set(facts.flatMap(({ colour }) => colour?.value ?? []))];
  return colours.map((colour) => {
    const of = [...facts.keys()].filter((i) => facts[i]?.colour?.value === colour);
    const members = of.map((i) => facts[i] as LocationFact);
    const score = Math.min(...members.map((fact) => fact.colour?.probability ?? 0));
    return { part: { count: countOf(members), colour }, score, of };
  });
}

/** The value that all of them have, with the least probability; null if they differ, or if one is unknown. */
function shared(values: readonly (Likely | null)[]): Likely | null {
  const [first] = values;
  if (first === undefined || values.some((one) => one?.value !== first?.value)) return null;
  return first && { value: first.value, probability: Math.min(...values.map((one) => one?.probability ?? 0)) };
}

/** @returns null: several */
function countOf(facts: readonly LocationFact[]): number | null {
  const total = facts.reduce((sum, { count }) => sum + count.value, 0);
  return total > MOST_COUNTED || facts.some(({ count }) => count.value >= SEVERAL) ? null : total;
}

function verbOf(kind: ChangeStatement['kind'], thing: Thing): string {
  if (kind === 'appear') return 'appeared';
  if (kind === 'move') return 'moved';
  return ['person', 'vehicle', 'animal'].includes(classOf(thing)) ? 'left' : 'gone';
}

/** The attention of the last word with this role; of the part of a group, of the word of its colour. */
const attentionOf = ({ words }: LocationStatement, { role }: Word): WordAttention | null =>
  words.findLast((word) => word.role === (role === 'part' ? 'colour' : role))?.attention ?? null;

function joined(attentions: readonly (WordAttention | null)[]): WordAttention | null {
  const [first, ...others] = attentions.filter((one) => one !== null);
  return first === undefined ? null : { ...first, others };
}
