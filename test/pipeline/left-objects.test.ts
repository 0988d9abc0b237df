import type { Side } from '../../src/base/images.js';
import type { MapRegion } from '../../src/model/regions.js';
import { leftObjectOf } from '../../src/pipeline/left-objects.js';
import type { LocationFact } from '../../src/pipeline/location-statement.js';
import type { StatementKind } from '../../src/schemas/kinds.js';

const region = (x: number, side: Side = 'after', width = 0.04): MapRegion => ({
  side,
  box: { x, y: 0.5, width, height: 0.04 },
  area: 0.001,
  score: 0.9,
});

type Class = NonNullable<LocationFact['class']>;

/** A fact about a thing of this class. */
function fact(value: Class['value'], kind: StatementKind, given: Partial<LocationFact> = {}): LocationFact {
  return {
    ...{ kind: { value: kind, probability: 0.9 }, noun: { value, probability: 0.95 }, nouns: [], colour: null },
    ...{
      class: { value, probability: 0.8 },
      count: { value: 1, probability: 0.9 },
      place: null,
      way: null,
      colours: [],
    },
    regions: [region(0.5)],
    ...given,
  };
}

describe('leftObjectOf', () => {
  it.each([
    ['object', 'appear', 'object_left'],
    ['object', 'disappear', 'object_removed'],
    ['object', 'move', undefined],
    ['object', 'replace', undefined],
    ['person', 'appear', undefined],
    ['vehicle', 'appear', undefined],
    ['animal', 'disappear', undefined],
  ] as const)('of %s, %s is %s', (value, kind, expected) => {
    expect(leftObjectOf(fact(value, kind), [])?.value).toBe(expected);
  });

  it('has the probability that an object came, and needs a class that outweighs the others', () => {
    expect(leftObjectOf(fact('object', 'appear'), [])?.probability).toBeCloseTo(0.72, 9);
    const weak = { class: { value: 'object' as const, probability: 0.45 } };
    expect(leftObjectOf(fact('object', 'appear', weak), [])).toBeNull();
    expect(leftObjectOf(fact('object', 'appear', { class: null }), [])).toBeNull();
  });

  it('has the nearest person of either frame as its owner, at most three lengths away', () => {
    const bag = fact('object', 'appear');
    const near = region(0.6, 'before');
    const person = (...regions: MapRegion[]) => fact('person', 'move', { regions });
    const owner = (...all: LocationFact[]) => leftObjectOf(bag, [bag, ...all])?.owner ?? null;
    expect(owner(person(near, region(0.8)))).toBe(near);
    // 0.54 + 3 * 0.04 = 0.66
    expect(owner(person(region(0.659)))).not.toBeNull();
    expect(owner(person(region(0.661)))).toBeNull();
    expect(owner(fact('vehicle', 'move', { regions: [near] }))).toBeNull();
    expect(owner()).toBeNull();
  });
});
