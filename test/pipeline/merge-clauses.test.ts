import { textOf } from '../../src/language/write.js';
import type { JudgedStatement, LocationFact } from '../../src/pipeline/location-statement.js';
import { groupAlike, joinGroup } from '../../src/pipeline/merge-clauses.js';
import type { StatementKind } from '../../src/schemas/kinds.js';
import { located } from './located.js';

interface Given {
  readonly kind?: StatementKind;
  readonly colour?: string | null;
  readonly place?: string | null;
  readonly way?: string | null;
  readonly count?: number;
  readonly probability?: number;
  readonly mark?: number;
}

/** A statement about one thing; every word of its clause has the attention [mark]. */
function states(noun: string, given: Given = {}): JudgedStatement {
  const { kind = 'appear', colour = null, place = null, way = null, count = 1, probability = 0.9, mark = 1 } = given;
  const likely = (value: string | null) => (value === null ? null : { value, probability });
  const text = `a ${noun} has appeared${place === null ? '' : ` ${place}`}`;
  const fact: LocationFact = {
    ...{
      kind: { value: kind, probability },
      noun: { value: noun, probability },
      nouns: [],
      class: null,
      colour: likely(colour),
      colours: [],
    },
    ...{ count: { value: count, probability }, place: likely(place), way: likely(way), regions: [] },
  };
  const one = located(text, { probability, mark: () => mark });
  return { ...one, fact, statement: { ...one.statement, kind } };
}
/** Clauses of a sentence. */
const MOST = 3;
const sentencesOf = (...statements: JudgedStatement[]) =>
  groupAlike(statements, MOST).map((group) => textOf(joinGroup(group).words));

describe('clauses of several things', () => {
  it.each([
    [[states('car'), states('car')], 'two cars have appeared'],
    [[states('car', { kind: 'disappear' }), states('car', { kind: 'disappear' })], 'two cars have left'],
    [[states('bag', { kind: 'disappear' }), states('bag', { kind: 'disappear' })], 'two bags are gone'],
    [[states('something', { kind: 'disappear' }), states('something', { kind: 'disappear' })], 'two things are gone'],
    [[states('man', { kind: 'move' }), states('man', { kind: 'move' })], 'two men have moved'],
    [[states('car'), states('car'), states('car')], 'three cars have appeared'],
    [[states('car', { count: 2 }), states('car', { count: 2 })], 'four cars have appeared'],
    [[states('car', { count: 2 }), states('car', { count: 3 })], 'five cars have appeared'],
    [[states('car', { count: 3 }), states('car', { count: 3 })], 'several cars have appeared'],
    [[states('car', { count: 4 }), states('car')], 'several cars have appeared'],
    [[states('car', { colour: 'red' }), states('car', { colour: 'red' })], 'two red cars have appeared'],
    [[states('man', { colour: 'dark' }), states('man', { colour: 'dark' })], 'two men in dark clothes have appeared'],
  ])('%#: %s', (statements, expected) => {
    expect(sentencesOf(...statements)).toEqual([expected]);
  });

  it('name the place or the way that all of them have', () => {
    const place = { kind: 'disappear', place: 'on the left' } as const;
    expect(sentencesOf(states('bus', place), states('bus', place))).toEqual(['two buses on the left have left']);
    expect(sentencesOf(states('bus', place), states('bus', { ...place, place: 'on the right' }))).toEqual([
      'two buses have left',
    ]);
    const way = { kind: 'move', way: 'to the left' } as const;
    expect(sentencesOf(states('bus', way), states('bus', way))).toEqual(['two buses have moved to the left']);
  });

  it('stay apart if kind or noun differ', () => {
    const clauses = sentencesOf(states('car'), states('man'), states('car', { kind: 'disappear' }), states('man'));
    expect(clauses).toEqual(['a car has appeared', 'two men have appeared', 'a car has appeared']);
  });

  it('of different colours at one place are one clause with the known colours', () => {
    const here = { place: 'on the left' } as const;
    expect(sentencesOf(states('man', { ...here, colour: 'red' }), states('man', { ...here, colour: 'black' }))).toEqual(
      ['two men have appeared on the left, one in red and one in black'],
    );
    expect(sentencesOf(states('car', { colour: 'red' }), states('car'))).toEqual(['two cars have appeared, one red']);
    expect(sentencesOf(states('man', { colour: 'dark' }), states('man', { colour: 'red', count: 2 }))).toEqual([
      'three men have appeared, one in dark clothes and two in red',
    ]);
    const colours = ['red', 'white', 'black', 'red'].map((colour) => states('bag', { colour, kind: 'disappear' }));
    expect(sentencesOf(...colours)).toEqual(['four bags are gone, two red, one white and one black']);
  });

  it('of different colours at several places stay apart as long as the sentence has room', () => {
    const left = states('car', { colour: 'red', place: 'on the left' });
    const right = states('car', { colour: 'white', place: 'on the right' });
    expect(sentencesOf(left, right)).toEqual(['a car has appeared on the left', 'a car has appeared on the right']);
    expect(sentencesOf(left, right, states('man'), states('bag'))).toEqual([
      'two cars have appeared, one red and one white',
      'a man has appeared',
      'a bag has appeared',
    ]);
  });

  it('have the least probability of the members, and the attention of all', () => {
    const [group = []] = groupAlike(
      [states('car', { probability: 0.9, mark: 1 }), states('car', { probability: 0.8, mark: 2 })],
      MOST,
    );
    const { words } = joinGroup(group);
    expect(words.map(({ score }) => score)).toEqual([0.8, 0.8, 0.8, 0.8]);
    const cars = words[1]?.attention;
    expect([cars?.weights[0], ...(cars?.others ?? []).map(({ weights }) => weights[0])]).toEqual([1, 2]);
  });
});
