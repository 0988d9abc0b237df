import { readFileSync } from 'node:fs';
import { deniesChange } from '../../src/language/plain.js';
import type { FactCalibration } from '../../src/model/fact-calibration.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { LocationStatement } from '../../src/pipeline/location-statement.js';
import { composeSentence } from '../../src/pipeline/sentence.js';
import { located } from './located.js';

const region = (x: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
/** Cases that the training code passes too; the empty sentence becomes a plain one. */
const CASES = (
  JSON.parse(readFileSync('test/fixtures/clauses.json', 'utf8')) as { kind: string; said: string; kept: string }[]
).filter(({ said }) => said !== '');
const BOX = { x: 0, y: 0, width: 1, height: 1 };

const FACTS = {
  clause: { kind: 0, move: 0, twin: 0, nothing: 0, score: 0, area: 0, offset: 0 },
  ...{ place: { scale: 1, offset: 0 }, way: { scale: 1, offset: 0, agreement: 0 } },
  ...{ third: 0.9, sideways: 0.9, one: 0.9, several: 0.9 },
};
/** 80 % of the places whose map score is 0.6 or more have changed; from 0.8 on all have. */
const COUNTED: FactCalibration['counted'] = [
  [0.8, 0.6],
  [1, 0.8],
];

interface Given {
  readonly calibrated?: boolean;
  readonly counted?: FactCalibration['counted'];
  readonly truth?: number;
  readonly kind?: string;
  readonly regions?: readonly MapRegion[];
  readonly statements?: readonly LocationStatement[];
}

/** Composes the sentence of a caption graph that wrote `text` about all locations; row t of its attention is [t]. */
function compose(
  text: string,
  { kind = 'appear', regions = [region(0.1)], statements = [], calibrated = false, counted, truth = 0.9 }: Given = {},
) {
  const words = text === '' ? [] : text.split(' ');
  const vocabulary = ['<pad>', '<unk>', '<start>', '<end>', ...new Set(words)];
  const joint: CaptionOutput = {
    ids: BigInt64Array.from(words, (word) => BigInt(vocabulary.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: null,
  };
  const manifest = {
    vocabulary,
    special: { pad: 0, unk: 1, start: 2, end: 3 },
    calibration: calibrated ? { facts: counted === undefined ? FACTS : { ...FACTS, counted } } : {},
  };
  const description = { joint, crops: [BOX], statements, ends: [] };
  return composeSentence(description, { name: kind, score: 0.6 }, regions, manifest, truth);
}

/** A statement whose words all have this score; its attention is [mark]. */
const states = (text: string, score = 0.8, mark = 1): LocationStatement =>
  located(text, { score, mark: () => mark, crops: [BOX] });

describe('composeSentence', () => {
  const TEXT_OF_KIND = { appear: 'a car has appeared', disappear: 'the car is gone' } as const;
  const CAR = states('a car has appeared', 0.5, 7);

  it('states the strongest location however uncertain, and a second one that is certain enough', () => {
    const van = (score: number) => states('the van has left', score, 8);
    expect(compose('a dog', { statements: [CAR, van(0.59)] }).sentence.text).toBe('a car has appeared');
    const both = compose('a dog', { statements: [CAR, van(0.61)] });
    expect(both.sentence.text).toBe('a car has appeared, and the van has left');
    expect(both.sentence.words.map(({ score }) => score)).toEqual([...Array(4).fill(0.5), ...Array(5).fill(0.61)]);
    expect(both.sentence.score).toBeCloseTo(Math.exp((4 * Math.log(0.5) + 5 * Math.log(0.61)) / 9), 9);
    expect(both.attention.map((word) => word?.weights[0])).toEqual([7, 7, 7, 7, undefined, 8, 8, 8, 8]);
  });

  it('states two locations at most, and equal clauses once', () => {
    const statements = [CAR, { ...CAR }, states('the van has left'), states('the dog has moved')];
    expect(compose('a dog', { statements }).sentence.text).toBe('a car has appeared, and the van has left');
  });

  it.each([
    // kind of the whole change, kinds of the statements, kind of the answer
    ['appear', ['appear'], 'appear'],
    ['appear', ['disappear'], 'disappear'],
    ['move', ['disappear', 'appear'], 'multi'],
    ['multi', ['appear'], 'appear'],
    ['multi', ['appear', 'disappear'], 'multi'],
  ] as const)('of a change of kind %s with statements of %j the kind is %s', (kind, kinds, expected) => {
    const statements = kinds.map((one) => states(TEXT_OF_KIND[one]));
    expect(compose('a dog', { kind, statements }).kind).toEqual({ name: expected, score: 0.6 });
  });

  it('without a statement keeps the sentence about all locations', () => {
    const { sentence, attention } = compose('a car has appeared');
    expect(sentence.text).toBe('a car has appeared');
    expect(sentence.score).toBeCloseTo(0.9, 6);
    expect(attention.map((word) => word?.weights[0])).toEqual([0, 1, 2, 3]);
    expect(attention[0]?.crops).toEqual([BOX]);
  });

  it('drops a clause of it that contradicts the kind, with the attention of its words', () => {
    const { sentence, attention } = compose('a man has left and a car has appeared');
    expect(sentence.text).toBe('a car has appeared');
    expect(attention.map((word) => word?.weights[0])).toEqual([5, 6, 7, 8]);
  });

  it.each(CASES)('of "$said" ($kind) keeps "$kept"', ({ kind, said, kept }) => {
    expect(compose(said, { kind }).sentence.text.replace(', and', ' and')).toBe(kept);
  });

  it.each([
    ['nothing has changed', 0.05, 'something has appeared on the left'],
    ['there is no change', 0.45, 'something has appeared'],
    ['the scene is the same as before', 0.9, 'something has appeared on the right'],
    ['only the light has changed', 0.9, 'something has appeared on the right'],
    ['', 0.9, 'something has appeared on the right'],
  ])('replaces "%s" by a plain sentence with the score of the kind', (text, x, expected) => {
    const { sentence, attention } = compose(text, { regions: [region(x)] });
    expect(sentence.text).toBe(expected);
    expect(new Set(sentence.words.map((word) => word.score))).toEqual(new Set([0.6]));
    expect(sentence.score).toBe(0.6);
    expect(attention).toEqual([]);
  });

  it.each(['multi', 'replace'])('states neither kind nor location without a region: %s', (kind) => {
    const { sentence, kind: kept } = compose('', { kind, regions: [] });
    expect([sentence.text, kept.name]).toEqual(['something has changed', kind]);
  });
});

describe('composeSentence of a bundle that knows how probable a clause is', () => {
  /** A statement about a thing with this noun, at a region whose left edge is at x. */
  const found = (noun: string, probability: number, x = 0.1, area = 0.01): LocationStatement => {
    const one = { ...region(x), area };
    const fact = {
      ...{
        kind: { value: 'appear' as const, probability },
        noun: { value: noun, probability: 0.9 },
        nouns: [],
        class: {
          value: noun === 'car' || noun === 'vehicle' ? ('vehicle' as const) : ('object' as const),
          probability: 0.9,
        },
        colour: null,
        colours: [],
      },
      ...{ count: { value: 1, probability: 0.9 }, place: null, way: null, regions: [one] },
    };
    return { ...states(`a ${noun} has appeared`), facts: [fact], regions: [one], probability };
  };
  const sentence = (truth: number, ...statements: LocationStatement[]) =>
    compose('a dog', { statements, truth, calibrated: true }).sentence.text;
  const [A, B, C, D] = ['car', 'man', 'dog', 'bag'].map((noun, i) => found(noun, 0.92, 0.2 * i)) as [
    LocationStatement,
    LocationStatement,
    LocationStatement,
    LocationStatement,
  ];

  it('states the strongest location, and others that are probable enough for the truth that is asked for', () => {
    const first = found('car', 0.1);
    expect(sentence(0.9, first, B)).toBe('a car has appeared, and a man has appeared');
    expect(sentence(0.95, first, B)).toBe('a car has appeared');
    expect(sentence(0.9, first, found('man', 0.89))).toBe('a car has appeared');
  });

  const content = (truth: number, ...statements: LocationStatement[]) =>
    compose('a dog', { statements, truth, calibrated: true }).content;

  it('states three locations at most, and counts the others without a word', () => {
    const three = 'a car has appeared, and a man has appeared; a dog has appeared';
    expect(sentence(0.9, A, B, C)).toBe(three);
    expect(sentence(0.9, A, B, C, D)).toBe(three);
    expect(content(0.9, A, B, C, D, found('box', 0.9, 0.9), found('bin', 0.2, 0.7))?.more).toBe(2);
  });

  it('says that others have done the same if that is certain of things of the class', () => {
    const one = found('box', 0.9, 0.9);
    const bin = found('bin', 0.95, 0.1);
    expect(sentence(0.9, bin, B, C, D, one)).toBe(
      'a bin has appeared, and a man has appeared; a dog has appeared; others have appeared',
    );
    expect(sentence(0.9, bin, B, C, D)).toMatch(/; another has appeared$/);
    // A car is a vehicle; of the box it is not certain enough that it appeared.
    expect(sentence(0.9, A, B, C, D)).not.toMatch(/other/);
    expect(sentence(0.9, bin, B, C, D, found('box', 0.2, 0.9))).not.toMatch(/others/);
  });

  it('states moves last', () => {
    const moved = { ...states('the dog has moved'), facts: A.facts, regions: A.regions, probability: 0.99 };
    expect(sentence(0.9, moved, B)).toBe('a man has appeared, and the dog has moved');
  });

  it('counts a thing that it cannot name beside one that it can, without a word', () => {
    const unnamed = found('something', 0.95, 0.5);
    expect(sentence(0.9, A, unnamed)).toBe('a car has appeared');
    expect(sentence(0.9, unnamed, A, B)).toBe('a car has appeared, and a man has appeared');
    expect(content(0.9, unnamed, A, B)?.more).toBe(1);
    expect(sentence(0.9, found('something', 0.9, 0.5))).toBe('a something has appeared');
  });

  it('counts a place that changed for sure while it is uncertain what happened there', () => {
    // its region has the score 0.7, from which on 90 % of the places have changed
    const uncertain = found('man', 0.3, 0.5);
    const joint = (truth: number, counted?: FactCalibration['counted']) =>
      compose('a dog', {
        ...{ statements: [A, uncertain], calibrated: true, truth },
        ...(counted === undefined ? {} : { counted }),
      });
    expect(joint(0.89, COUNTED).sentence.text).toBe('a car has appeared');
    expect(joint(0.89, COUNTED).content?.more).toBe(1);
    expect(joint(0.91, COUNTED).content?.more).toBe(0);
    expect(joint(0.89).content?.more).toBe(0);
  });

  it('takes a small neighbour of the same kind for a part, a shadow or a reflection', () => {
    // the box of A ends at 0.1
    const beside = (noun: string, area: number, x = 0.11) => content(0.9, A, found(noun, 0.9, x, area));
    expect(beside('car', 0.004)).toMatchObject({ statements: [{}], more: 0 });
    expect(beside('something', 0.004)?.more).toBe(0);
    expect(beside('man', 0.004)).toMatchObject({ statements: [{}, {}], more: 0 });
    expect(beside('vehicle', 0.004)).toMatchObject({ statements: [{}], more: 0 });
    expect(beside('something', 0.009)?.more).toBe(1);
    expect(beside('something', 0.004, 0.15)?.more).toBe(1);
  });
});

describe('deniesChange', () => {
  it.each([
    'nothing has changed except the light',
    'no change can be seen',
    'everything is as before',
    'only the camera has moved slightly',
  ])('is true for "%s"', (text) => {
    expect(deniesChange(text)).toBe(true);
  });

  it.each(['there is a car on the road now', 'the man is no longer there', 'a noticeboard has appeared'])(
    'is false for "%s"',
    (text) => {
      expect(deniesChange(text)).toBe(false);
    },
  );
});
