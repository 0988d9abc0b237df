/**
 * Facts: noun, colour, count, place and way of the things of an event, with their probabilities, and its clause in
 * words that are probable enough. The names come from the pictures of the thing, joined with the decoder's own words;
 * a person whom the detector sees is one, whatever the namer says.
 */
import { type Role, SOMETHING } from '../language/thing.js';
import { writeWords } from '../language/write.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import {
  likelyClass,
  likelyColour,
  likelyNoun,
  listed,
  type Names,
  type ThingNames,
  thingNames,
} from '../model/naming.js';
import type { StatementKind } from '../schemas/kinds.js';
import type { Event } from './events.js';
import type { Judge } from './judge.js';
import { type JudgedStatement, type LocationFact, SEVERAL, stateOf } from './location-statement.js';
import { likelyPlace, likelyWay } from './place-facts.js';
import { type ScoredWord, statedPhrase } from './scored-words.js';
import { isPersonNoun, type Thing } from './things.js';
import { attentionOf } from './witness.js';

/** Everything that decides the words of a statement. */
export interface Wording {
  readonly names: Names;
  readonly calibration: FactCalibration;
  /** share of the things said that must be true, 0..1 */
  readonly truth: number;
  /** of the judge */
  readonly levels: Judge['levels'];
}

/** @returns a statement per event, in the order of their crops; equal events of the same regions are one, counted */
export function statementsOf(events: readonly Event[], wording: Wording): JudgedStatement[] {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const key = `${event.kind} ${event.things.map(({ crop, side }) => `${crop} ${side}`).join()}`;
    const isSure = event.probability >= wording.levels.stated;
    // Events come with the most probable first, so that an unsure one never starts a group of sure ones.
    const group = isSure ? key : `${key} ${groups.size}`;
    groups.set(group, [...(groups.get(group) ?? []), event]);
  }
  const first = ([event]: readonly Event[]): number => Math.min(...(event as Event).things.map(({ crop }) => crop));
  return [...groups.values()].sort((a, b) => first(a) - first(b)).map((group) => stateEvents(group, wording));
}

function stateEvents(events: readonly Event[], wording: Wording): JudgedStatement {
  const { calibration, truth, levels } = wording;
  const { kind, things } = events[0] as Event;
  const probability = Math.min(...events.map((event) => event.probability));
  const last = things.at(-1) as Thing;
  const where =
    kind === 'move'
      ? likelyWay(things, calibration, truth)
      : likelyPlace(statedPlace(last, kind), last, calibration, truth);
  const several = events.length >= SEVERAL;
  const fact: LocationFact = {
    kind: { value: kind, probability },
    ...nameThings(things, wording),
    count: {
      value: several ? SEVERAL : events.length,
      probability: events.length === 1 ? calibration.one : calibration.several,
    },
    ...(kind === 'move' ? { place: null, way: where } : { place: where, way: null }),
    regions: [...new Set(things.map(({ region }) => region))],
  };
  const noun = fact.noun.value;
  const colour = noun === SOMETHING ? null : (fact.colour?.value ?? null);
  const count = several ? null : events.length;
  const open = events.some((event) => event.hasRival && event.probability < levels.identity);
  const statement = stateOf(kind, { noun, colour, count, definite: kind !== 'appear' }, where, open);
  const scores: Partial<Record<Role, number>> = {
    verb: probability,
    place: where?.probability ?? 0,
    way: where?.probability ?? 0,
    colour: fact.colour?.probability ?? fact.noun.probability,
  };
  const words = writeWords(statement).map(
    (word): ScoredWord => ({
      ...word,
      score: scores[word.role] ?? fact.noun.probability,
      attention: word.role === 'phrase' ? null : attentionOf(last.witness, word.role),
    }),
  );
  return { fact, statement, words, regions: fact.regions, probability };
}

/** Names of a thing; of a move as both frames show it. */
export const namesOf = (things: readonly Thing[], names: Names): ThingNames =>
  thingNames(
    [...new Set(things.map((thing) => thing.names))],
    names,
    things.flatMap(({ decoded }) => decoded),
  );

function nameThings(things: readonly Thing[], { names, truth, levels }: Wording) {
  const joint = namesOf(things, names);
  const noun = likelyNoun(joint, names, truth);
  const colour = likelyColour(joint, names, truth);
  const colours = listed(joint.colours);
  const likely = likelyClass(joint, names);
  const named = { noun, nouns: listed(joint.nouns), class: likely, colour, colours };
  // Several nouns of people are each improbable where a person is sure.
  const share = noun.value === SOMETHING && likely?.value === 'person' ? likely.probability : 0;
  const person = Math.max(share, ...things.map((thing) => thing.person));
  if (person < levels.person || isPersonNoun(noun.value, names)) return named;
  const being = { value: 'person' as const, probability: person };
  return { ...named, noun: being, nouns: [being], class: being };
}

/** The place that the decoder states of a thing that came or left so. */
export function statedPlace({ witness }: Thing, kind: StatementKind) {
  const clause = witness.clauses.find((one) => !one.reversed && one.kind === kind);
  return clause === undefined ? null : statedPhrase(clause.words, 'place', clause.statement.place);
}
