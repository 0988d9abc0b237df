import { likelyClass, likelyColour, likelyNoun, type Names, thingNames } from '../../src/model/naming.js';
import { cropNames, NAMES } from './names.js';

const noun = (nouns: Record<string, number>, truth: number) => {
  const { value, probability } = likelyNoun(thingNames([cropNames(nouns)], NAMES), NAMES, truth);
  return [value, Number(probability.toFixed(3))];
};
const sure = { nothing: 0, man: 0.95, woman: 0.05, car: 0, van: 0, object: 0 };
const mixed = { nothing: 0, man: 0.6, woman: 0.35, car: 0.05, van: 0, object: 0 };

describe('likelyNoun', () => {
  it.each([
    [sure, 0.9, 'man', 0.95],
    [mixed, 0.9, 'person', 0.95],
    [mixed, 0.5, 'man', 0.6],
    [mixed, 0.97, 'something', 1],
    [{ nothing: 0, man: 0.4, woman: 0.1, car: 0.3, van: 0.2, object: 0 }, 0.9, 'something', 1],
  ] as const)('of %j with truth %d is the most specific noun, %s', (nouns, truth, value, probability) => {
    expect(noun(nouns, truth)).toEqual([value, probability]);
  });

  it('is that of a thing, whatever the probability that there is none', () => {
    const shown = { nothing: 0.5, man: 0.48, woman: 0.02, car: 0, van: 0, object: 0 };
    expect(noun(shown, 0.9)).toEqual(['man', 0.96]);
    expect(thingNames([cropNames(shown)], NAMES).nothing).toBeCloseTo(0.5, 6);
  });

  it('is the mean of both ends of a move', () => {
    const ends = [cropNames({ ...sure, man: 1, woman: 0 }), cropNames({ ...sure, man: 0.5, woman: 0.5 })];
    expect(likelyNoun(thingNames(ends, NAMES), NAMES, 0.7)).toEqual({
      value: 'man',
      probability: expect.closeTo(0.75),
    });
  });
});

describe('likelyClass', () => {
  const classOf = (nouns: Record<string, number>, names: Names = NAMES) =>
    likelyClass(thingNames([cropNames(nouns)], names), names);

  it('is the class whose nouns are together the most probable', () => {
    const torn = { nothing: 0, man: 0.3, woman: 0.1, car: 0.3, van: 0.25, object: 0.05 };
    expect(classOf(torn)).toEqual({ value: 'vehicle', probability: expect.closeTo(0.55, 6) });
    expect(classOf(mixed)).toEqual({ value: 'person', probability: expect.closeTo(0.95, 6) });
  });

  it('is null if the bundle has no class', () => {
    const names = { ...NAMES, nouns: ['nothing', 'cube'], wider: {} };
    expect(likelyClass({ nothing: 0, nouns: new Map([['cube', 1]]), colours: new Map() }, names)).toBeNull();
  });
});

describe('likelyColour', () => {
  const colour = (colours: Record<string, number>, truth: number) =>
    likelyColour(thingNames([cropNames(sure, colours)], NAMES), NAMES, truth)?.value ?? null;

  it('is the most specific one, a shade, or none', () => {
    expect(colour({ black: 0.8, 'dark blue': 0.1, red: 0.1 }, 0.9)).toBe('black');
    expect(colour({ black: 0.45, 'dark blue': 0.45, red: 0.1 }, 0.9)).toBe('dark');
    expect(colour({ black: 0.3, 'dark blue': 0.2, red: 0.5 }, 0.9)).toBeNull();
  });
});

describe('thingNames with the words of the decoder', () => {
  const decoder = { flatten: 1, noun: 2, class: 1, colour_flatten: 1, colour: 1 };
  const shown = [cropNames({ nothing: 0, man: 0.3, woman: 0.1, car: 0.4, van: 0.1, object: 0.1 })];
  const nouns = (noun: string, wider = NAMES.wider) =>
    thingNames(shown, { ...NAMES, wider, decoder }, [{ noun, colour: null }]).nouns;

  it('weighs the class that the decoder names, and those of its hypernym', () => {
    // man 0.3 * 3 * 2, woman 0.1 * 2, the others as they were: 2.6 in all
    expect(nouns('man').get('man')).toBeCloseTo(1.8 / 2.6, 6);
    expect(nouns('man').get('woman')).toBeCloseTo(0.2 / 2.6, 6);
  });

  it('shares the weight of a wider noun, and climbs to the next wider one of a noun without a class', () => {
    // man 0.3 * 2 * 2, woman 0.1 * 2 * 2: 2.2 in all
    expect(nouns('person').get('man')).toBeCloseTo(1.2 / 2.2, 6);
    expect(nouns('girl', { ...NAMES.wider, girl: 'person' }).get('man')).toBeCloseTo(1.2 / 2.2, 6);
  });

  it('changes nothing for a noun that is not known, or for a bundle without this evidence', () => {
    expect(nouns('dinosaur').get('car')).toBeCloseTo(0.4, 6);
    expect(thingNames(shown, NAMES, [{ noun: 'man', colour: 'red' }]).nouns.get('car')).toBeCloseTo(0.4, 6);
  });

  it('weighs the colour that the decoder names', () => {
    const red = cropNames(sure, { black: 0.5, 'dark blue': 0, red: 0.5 });
    const { colours } = thingNames([red], { ...NAMES, decoder }, [{ noun: 'man', colour: 'red' }]);
    expect(colours.get('red')).toBeCloseTo(2 / 3, 6);
  });
});

describe('levels', () => {
  const levels: NonNullable<Names['levels']> = {
    nouns: [
      [0, 0],
      [0.8, 0.5],
      [1, 1],
    ],
    colours: [
      [0, 0],
      [0.9, 0.4],
      [1, 1],
    ],
  };
  const thing = thingNames([cropNames(mixed, { black: 0.45, 'dark blue': 0.05, red: 0.5 })], NAMES);

  it.each([
    [0.8, 'man'],
    [0.85, 'person'],
    [1, 'something'],
  ])('give the probability that a noun must reach for a truth of %d: %s', (truth, value) => {
    expect(likelyNoun(thing, { ...NAMES, levels }, truth).value).toBe(value);
  });

  it('are apart for the nouns below one that has a table', () => {
    const below = { person: [...levels.nouns.slice(0, 1), [0.8, 0.65], [1, 1]] as [number, number][] };
    const apart = { ...NAMES, levels: { ...levels, below } };
    expect(likelyNoun(thing, apart, 0.8).value).toBe('person');
    expect(likelyNoun(thing, apart, 0.7).value).toBe('man');
    const van = thingNames([cropNames({ nothing: 0, man: 0, woman: 0, car: 0.4, van: 0.6, object: 0 })], NAMES);
    expect(likelyNoun(van, apart, 0.8).value).toBe('van');
  });

  it('are apart for colours', () => {
    expect(likelyColour(thing, { ...NAMES, levels }, 0.9)?.value).toBe('red');
    expect(likelyColour(thing, { ...NAMES, levels }, 0.95)).toBeNull();
  });
});
