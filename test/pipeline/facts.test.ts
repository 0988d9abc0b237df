import { textOf } from '../../src/language/write.js';
import type { LikelyClass } from '../../src/model/naming.js';
import type { MapRegion } from '../../src/model/regions.js';
import { nameStatement } from '../../src/pipeline/facts.js';
import type { LocationStatement } from '../../src/pipeline/location-statement.js';
import type { StatementKind } from '../../src/schemas/comparison.js';
import { cropNames, NAMES } from '../model/names.js';
import { located } from './located.js';

const region = (side: MapRegion['side']): MapRegion => ({
  side,
  box: { x: 0.1, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
const [WAS, IS] = [region('before'), region('after')];

/** A statement about regions of both frames; word t has the attention [t]. */
const states = (text: string, kind: StatementKind): LocationStatement =>
  located(text, {
    regions: [WAS, IS].filter(
      ({ side }) => kind === 'move' || kind === 'replace' || (side === 'after') === (kind === 'appear'),
    ),
  });
const man = cropNames(
  { nothing: 0, man: 0.95, woman: 0.05, car: 0, van: 0, object: 0 },
  { black: 0.1, 'dark blue': 0.1, red: 0.8 },
);
const car = cropNames(
  { nothing: 0, man: 0, woman: 0, car: 0.92, van: 0.08, object: 0 },
  { black: 0.4, 'dark blue': 0.3, red: 0.3 },
);
const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
const name = (text: string, kind: StatementKind, before = man, after = car, truth = 0.9) =>
  nameStatement(states(text, kind), [{ before, after }], [], {
    names: NAMES,
    calibration: undefined,
    kinds: KINDS,
    truth,
  });

/** Everything but the offset of the clause is zero, so that no place or way of the decoder is probable. */
const CALIBRATION = {
  clause: { kind: 0, move: 0, twin: 0, nothing: 0, score: 0, area: 0, offset: 2 },
  place: { scale: 0, offset: -2 },
  way: { scale: 0, offset: -2, agreement: 0 },
  ...{ third: 0.8, sideways: 0.8, one: 0.9, several: 0.8 },
};
const calibrated = (text: string, kind: StatementKind, calibration: typeof CALIBRATION) =>
  nameStatement(states(text, kind), [{ before: man, after: man }], [], {
    ...{ names: NAMES, calibration, kinds: KINDS, truth: 0.9 },
  });

describe('nameStatement', () => {
  it.each([
    ['a white horse has appeared on the road', 'appear', man, man, 'a man in red has appeared on the road'],
    ['the white horse on the road is gone', 'disappear', man, car, 'the man in red on the road is gone'],
    ['the horse has walked to the left', 'move', car, car, 'the dark car has moved to the left'],
    ['the horse has been replaced by a dog', 'replace', man, car, 'the man in red has been replaced by a dark car'],
    ['there is a dog instead of the horse', 'replace', man, car, 'there is a dark car instead of the man in red'],
    ['a person is now standing by the wall', 'appear', man, car, 'a dark car is now by the wall'],
    ['two horses have arrived', 'appear', man, car, 'two dark cars have arrived'],
  ] as const)('writes "%s" (%s) with the names of its frames', (text, kind, before, after, expected) => {
    expect(textOf(name(text, kind, before, after).words)).toBe(expected);
  });

  it('uses the same words for a thing that came and for the same thing that went', () => {
    const came = name('a brown horse has appeared', 'appear', car, man).facts[0];
    const went = name('the white cyclist has left', 'disappear', man, car).facts[0];
    expect([came?.noun, came?.colour]).toEqual([went?.noun, went?.colour]);
  });

  it.each([
    [0.01, man, 'two men in red have appeared', 2],
    [0.1, man, 'a man in red has appeared', 1],
    [0.1, car, 'two dark cars have appeared', 2],
  ] as const)('counts a person whose region covers %d of the frame', (area, after, ...expected) => {
    const came = states('two horses have appeared', 'appear');
    const one = { ...came, regions: came.regions.map((shown) => ({ ...shown, area })) };
    const wording = { names: NAMES, calibration: undefined, kinds: KINDS, truth: 0.9 };
    const named = nameStatement(one, [{ before: car, after }], [], wording);
    expect([textOf(named.words), named.facts[0]?.count.value]).toEqual(expected);
  });

  it.each([
    ['two', true, man, 'two men in red have appeared'],
    ['one', false, man, 'a man in red has appeared'],
    ['one, a vehicle,', true, car, 'a dark car has appeared'],
  ])('counts %s where the pixels show people apart: %s', (_, isApart, after, expected) => {
    const wording = { names: NAMES, calibration: undefined, kinds: KINDS, truth: 0.9, arePeopleApart: () => isApart };
    const named = nameStatement(states('a horse has appeared', 'appear'), [{ before: car, after }], [], wording);
    expect(textOf(named.words)).toBe(expected);
  });

  it.each([
    ['two', 2, false, 'a horse has appeared', 'two men in red have appeared'],
    ['several', 4, false, 'a horse has appeared', 'several men in red have appeared'],
    ['one', 1, false, 'two horses have appeared', 'a man in red has appeared'],
    ['one, whom the pixels show as two,', 1, true, 'a horse has appeared', 'two men in red have appeared'],
    ['nobody', 0, false, 'two horses have appeared', 'two men in red have appeared'],
  ])('counts people where the detector sees %s', (_, seen, isApart, decoded, expected) => {
    const box = { x: 0, y: 0, width: 1, height: 1 };
    const counted = { peopleIn: () => new Array(seen).fill(box), arePeopleApart: () => isApart };
    const wording = { names: NAMES, calibration: undefined, kinds: KINDS, truth: 0.9, ...counted };
    const named = nameStatement(states(decoded, 'appear'), [{ before: car, after: man }], [], wording);
    expect(textOf(named.words)).toBe(expected);
  });

  it.each<[LikelyClass['value'] | undefined, string]>([
    ['person', 'the person in dark clothes has moved'],
    ['animal', 'the dark animal has moved'],
    [undefined, 'something has moved'],
  ])('calls a thing whose noun is uncertain by its class, if both frames show it (%s)', (recognised, expected) => {
    const moved = { ...states('the horse has moved', 'move'), ...(recognised === undefined ? {} : { recognised }) };
    const unsure = cropNames({ nothing: 0, man: 0.4, woman: 0.2, car: 0.4, van: 0, object: 0 });
    const wording = { names: NAMES, calibration: undefined, kinds: KINDS, truth: 0.9 };
    expect(textOf(nameStatement(moved, [{ before: unsure, after: unsure }], [], wording).words)).toBe(expected);
  });

  it('lists the facts with their probabilities, and the regions of the frame that shows the thing', () => {
    expect(name('the two horses have been replaced by a dog', 'replace').facts).toEqual([
      {
        kind: { value: 'replace', probability: 0.5 },
        noun: { value: 'man', probability: expect.closeTo(0.95, 5) },
        nouns: [{ value: 'man', probability: expect.closeTo(0.95, 5) }],
        class: { value: 'person', probability: expect.closeTo(1, 5) },
        colour: { value: 'red', probability: expect.closeTo(0.8, 5) },
        colours: [
          { value: 'red', probability: expect.closeTo(0.8, 5) },
          { value: 'black', probability: expect.closeTo(0.1, 5) },
          { value: 'dark blue', probability: expect.closeTo(0.1, 5) },
        ],
        count: { value: 2, probability: 0.5 },
        place: null,
        way: null,
        regions: [WAS],
      },
      {
        kind: { value: 'replace', probability: 0.5 },
        noun: { value: 'car', probability: expect.closeTo(0.92, 5) },
        nouns: [
          { value: 'car', probability: expect.closeTo(0.92, 5) },
          { value: 'van', probability: expect.closeTo(0.08, 5) },
        ],
        class: { value: 'vehicle', probability: expect.closeTo(1, 5) },
        colour: { value: 'dark', probability: expect.closeTo(0.7, 5) },
        colours: [
          { value: 'black', probability: expect.closeTo(0.4, 5) },
          { value: 'dark blue', probability: expect.closeTo(0.3, 5) },
          { value: 'red', probability: expect.closeTo(0.3, 5) },
        ],
        count: { value: 1, probability: 0.5 },
        place: null,
        way: null,
        regions: [IS],
      },
    ]);
  });

  it('states less with more truth: a wider noun, then something', () => {
    const text = 'the horse on the left is gone';
    expect(textOf(name(text, 'disappear', man, car, 0.99).words)).toBe('the person in red on the left is gone');
    const unsure = cropNames({ nothing: 0, man: 0.5, woman: 0, car: 0.5, van: 0, object: 0 }, { red: 0.34 });
    expect(textOf(name(text, 'disappear', unsure, car).words)).toBe('something on the left is gone');
  });

  it('keeps score and attention of the words that stay, and gives the others the probability of the fact', () => {
    const { words } = name('a white horse has appeared', 'appear', car, man);
    expect(words.map(({ text, score }) => [text, Number(score.toFixed(2))])).toEqual([
      ['a', 0.5],
      ['man', 0.95],
      ['in', 0.5],
      ['red', 0.8],
      ['has', 0.5],
      ['appeared', 0.5],
    ]);
    expect(words.map(({ attention }) => attention?.weights[0])).toEqual([undefined, 2, undefined, 1, 3, 4]);
  });

  it('leaves a clause of two things at one location unchanged', () => {
    const { words, facts } = name('a van and a car have appeared', 'appear');
    expect([textOf(words), facts]).toEqual(['a van and a car have appeared', []]);
  });

  it.each([
    ['a man has appeared on the road', 'appear', 'a man in red has appeared on the left', 'on the left'],
    ['a man is now standing on the road', 'appear', 'a man in red is now standing on the left', 'on the left'],
    ['the man on the road is gone', 'disappear', 'the man in red on the left is gone', 'on the left'],
    ['a man has appeared', 'appear', 'a man in red has appeared', null],
  ] as const)('writes "%s" with a place that is probable enough', (text, kind, expected, place) => {
    const calibration = { ...CALIBRATION, third: 0.95 };
    const { words, facts } = calibrated(text, kind, calibration);
    expect([textOf(words), facts[0]?.place?.value ?? null]).toEqual([expected, place]);
  });

  it.each([
    ['a man has appeared on the road', 'appear', 'a man in red has appeared'],
    ['a man is now on the road', 'appear', 'a man in red has appeared'],
    ['two men are now by the wall', 'appear', 'two men in red have appeared'],
    ['there is a man on the road now', 'appear', 'there is a man in red now'],
    ['the man on the road has left', 'disappear', 'the man in red has left'],
    ['the man has walked further away', 'move', 'the man in red has moved'],
    ['the man has been replaced by a dog', 'replace', 'the man in red has been replaced by a man in red'],
  ] as const)('writes "%s" without a place or way that is not', (text, kind, expected) => {
    expect(textOf(calibrated(text, kind, CALIBRATION).words)).toBe(expected);
  });

  it('gives the probability that the location changed as stated to the fact', () => {
    const statement = { ...states('a man has appeared', 'appear'), kindLogits: Float32Array.of(0, 3, 0, 0, 0, 0) };
    const wording = { names: NAMES, calibration: CALIBRATION, kinds: KINDS, truth: 0.9 };
    const { probability, facts } = nameStatement(statement, [{ before: man, after: man }], [], wording);
    expect(probability).toBeCloseTo(1 / (1 + Math.exp(-2)), 9);
    expect(facts[0]?.kind).toEqual({ value: 'appear', probability });
  });
});
