/**
 * Facts: noun, colour, count, place and way of the things at a location, with their probabilities, and the clause of
 * the location in words that are probable enough. The names come from the pictures of the thing, joined with the
 * decoder's own words.
 */
import { OTHER_SIDE, type Side } from '../base/images.js';
import type { ChangeStatement } from '../language/plain.js';
import { SOMETHING } from '../language/thing.js';
import { writeWords } from '../language/write.js';
import type { FactCalibration } from '../model/fact-calibration.js';
import type { PairNames } from '../model/graph-io.js';
import {
  classShares,
  type Decoded,
  type LikelyClass,
  likelyClass,
  likelyColour,
  likelyNoun,
  listed,
  type Names,
  thingNames,
} from '../model/naming.js';
import type { MapRegion } from '../model/regions.js';
import { SIDES_OF_KIND } from '../schemas/comparison.js';
import type { Thing } from '../schemas/statement.js';
import { clauseProbability, evidenceOf } from './clause-probability.js';
import type { Description, LocationFact, LocationStatement } from './location-statement.js';
import { nobody, type PeopleIn } from './people.js';
import { likelyPlace, likelyWay } from './place-facts.js';
import { rescored, type ScoredWord, statedPhrase } from './scored-words.js';

/** As `value` of a count: four or more. */
const SEVERAL = 4;

/** Everything that decides the words of a statement. */
export interface Wording {
  readonly names: Names;
  /** absent = the scores of the graphs */
  readonly calibration: FactCalibration | undefined;
  /** of the manifest */
  readonly kinds: readonly string[];
  /** share of the things said that must be true, 0..1 */
  readonly truth: number;
  /** absent = unknown of all regions */
  readonly peopleIn?: PeopleIn;
  /** whether the pixels of a region show several people apart; absent = unknown */
  readonly arePeopleApart?: (region: MapRegion) => boolean;
}

/**
 * The statement with its probability and its facts, in words whose probability reaches `truth`. A clause of two things
 * at one location keeps the words of the decoder.
 * @param all names of all crops, in their order
 * @param ends of the same description
 */
export function nameStatement(
  one: LocationStatement,
  all: readonly PairNames[],
  ends: Description['ends'],
  wording: Wording,
): LocationStatement {
  const { names, calibration, kinds, truth } = wording;
  const { statement, words: decoded } = one;
  const shown = one.at.map((i) => all[i] as PairNames);
  const evidence = calibration && evidenceOf(one, all, ends, kinds);
  const probability = evidence ? clauseProbability(evidence, calibration.clause) : one.probability;
  const sides = sidesOfThings(statement);
  if (sides === null) return { ...one, probability };
  const things = sides.map((frames) => {
    const seen = frames.map((side) => (side === 'before' ? shown[0] : shown.at(-1))?.[side]);
    const thing = thingNames(
      seen.filter((crop) => crop !== undefined),
      names,
      decodedAt(one, frames),
    );
    const likely = likelyClass(thing, names);
    const word = one.recognised;
    const being = word && { value: word, probability: classShares(thing, names).get(word) ?? 0 };
    const noun = likelyNoun(thing, names, truth);
    const isNamed = being === undefined || (likely?.value === being.value && noun.value !== SOMETHING);
    return {
      sides: frames,
      noun: isNamed ? noun : being,
      nouns: listed(thing.nouns),
      class: being ?? likely,
      colours: listed(thing.colours),
      colour: likelyColour(thing, names, truth),
    };
  });
  const isMove = statement.kind === 'move';
  const stated = statedPhrase(decoded, isMove ? 'way' : 'place', isMove ? statement.way : statement.place);
  const place = isMove ? null : likelyPlace(stated, one.regions, calibration, truth);
  const way = isMove ? likelyWay(stated, one.regions, calibration, truth) : null;
  const counted = statement.things.map((thing, i) =>
    countedPeople(thing, things[i]?.class ?? null, one.regions, wording),
  );
  const facts = things.map(
    ({ sides: frames, noun, nouns, class: likely, colour, colours }, i): LocationFact => ({
      kind: { value: statement.kind, probability },
      noun,
      nouns,
      class: likely,
      colour,
      colours,
      count: countOf(counted[i] as Thing, i, decoded, calibration),
      place,
      way,
      regions: one.regions.filter(({ side }) => frames.includes(side)),
    }),
  );
  const named: ChangeStatement = {
    ...statement,
    things: counted.map((thing, i) => renamed(thing, facts[i] as LocationFact)),
    place: place?.value ?? null,
    way: way?.value ?? null,
  };
  const phrase = place ?? way;
  const written = rescored(writeWords(named), decoded, facts, phrase?.value === stated?.value ? null : phrase);
  return { ...one, probability, facts, statement: named, words: written };
}

/**
 * From this share of the frame on, a region of people shows one, who is near; set on cameras of tier A
 * (training/journal/levels.md).
 */
const NEAR = 0.1;

/**
 * The detector counts people. If it sees one at most, far people whom the pixels show apart are two
 * (training/journal/levels.md), and near people are one.
 */
function countedPeople(
  thing: Thing,
  of: LikelyClass | null,
  regions: readonly MapRegion[],
  { peopleIn = nobody, arePeopleApart = () => false }: Pick<Wording, 'peopleIn' | 'arePeopleApart'>,
): Thing {
  if (of?.value !== 'person') return thing;
  const seen = Math.min(...regions.map((region) => peopleIn(region).length));
  if (seen > 1) return { ...thing, count: seen < SEVERAL ? seen : null };
  if (regions.some(({ area }) => area >= NEAR)) return { ...thing, count: 1 };
  if (seen === 0 && thing.count !== 1) return thing;
  return { ...thing, count: regions.every(arePeopleApart) ? 2 : 1 };
}

/** A garment has the colour of the decoder: with another colour it is left out. */
function renamed(thing: Thing, { noun, colour }: LocationFact): Thing {
  const { garment, ...rest } = thing;
  const painted = noun.value === SOMETHING ? null : (colour?.value ?? null);
  const keeps = garment !== undefined && painted === thing.colour;
  return { ...rest, noun: noun.value, colour: painted, ...(keeps ? { garment } : {}) };
}

/** The words of the caption graph, in both directions, for the thing that these frames show. */
const decodedAt = ({ decoded }: LocationStatement, frames: readonly Side[]): Decoded[] =>
  decoded.flatMap(({ statement, reversed }) => {
    const shown = sidesOfThings(statement)?.map((sides) => (reversed ? sides.map((side) => OTHER_SIDE[side]) : sides));
    const at = shown?.findIndex(
      (sides) => sides.length === frames.length && sides.every((side) => frames.includes(side)),
    );
    const thing = statement.things[at ?? -1];
    return thing === undefined ? [] : [{ noun: thing.noun, colour: thing.colour }];
  });

function countOf(
  { count }: Thing,
  at: number,
  words: readonly ScoredWord[],
  calibration: FactCalibration | undefined,
): LocationFact['count'] {
  const score = words.find(({ thing }) => thing === at)?.score ?? 0;
  return count === 1
    ? { value: 1, probability: calibration?.one ?? score }
    : { value: Math.min(count ?? SEVERAL, SEVERAL), probability: calibration?.several ?? score };
}

/** @param shown names of all crops, in their order */
export const nameAll = (description: Description, shown: readonly PairNames[], wording: Wording): Description => ({
  ...description,
  statements: description.statements.map((one) => nameStatement(one, shown, description.ends, wording)),
});

/** The frames that show each thing; null for a clause of several things that is no replacement. */
function sidesOfThings({ kind, things }: ChangeStatement): (readonly Side[])[] | null {
  if (kind === 'replace') return things.length === 2 ? [['before'], ['after']] : null;
  return things.length === 1 ? [[...SIDES_OF_KIND[kind]]] : null;
}
