import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import { deniesChange } from '../../src/model/wording.js';
import { composeSentence } from '../../src/pipeline/sentence.js';
import type { LocationStatement } from '../../src/pipeline/statements.js';

const region = (x: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
const BOX = { x: 0, y: 0, width: 1, height: 1 };

interface Given {
  readonly kind?: string;
  readonly regions?: readonly MapRegion[];
  readonly statements?: readonly LocationStatement[];
}

/** Composes the sentence of a caption graph that wrote `text` about all locations; row t of its attention is [t]. */
function compose(text: string, { kind = 'appear', regions = [region(0.1)], statements = [] }: Given = {}) {
  const words = text === '' ? [] : text.split(' ');
  const vocabulary = ['<pad>', '<unk>', '<start>', '<end>', ...new Set(words)];
  const whole: CaptionOutput = {
    ids: BigInt64Array.from(words, (word) => BigInt(vocabulary.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: null,
  };
  const manifest = { vocabulary, special: { pad: 0, unk: 1, start: 2, end: 3 } };
  return composeSentence({ whole, crops: [BOX], statements }, { name: kind, score: 0.6 }, regions, manifest);
}

/** A statement whose words all have this score; its attention is [mark]. */
const states = (text: string, kind: LocationStatement['kind'], score = 0.8, mark = 1): LocationStatement => {
  const words = text.split(' ').map((word) => ({ text: word, score }));
  const attention = words.map(() => ({ weights: Float32Array.of(mark), crops: [BOX] }));
  return { at: [0], facts: [], kind, regions: [], clause: { text, words, score }, attention };
};

describe('composeSentence', () => {
  const CAR = states('a car has appeared', 'appear', 0.5, 7);

  it('states the strongest location however uncertain, and a second one that is certain enough', () => {
    const van = (score: number) => states('the van has left', 'disappear', score, 8);
    expect(compose('a dog', { statements: [CAR, van(0.59)] }).sentence.text).toBe('a car has appeared');
    const both = compose('a dog', { statements: [CAR, van(0.61)] });
    expect(both.sentence.text).toBe('a car has appeared and the van has left');
    expect(both.sentence.words.map(({ score }) => score)).toEqual([...Array(4).fill(0.5), ...Array(5).fill(0.61)]);
    expect(both.sentence.score).toBeCloseTo(Math.exp((4 * Math.log(0.5) + 5 * Math.log(0.61)) / 9), 9);
    expect(both.attention.map((word) => word?.weights[0])).toEqual([7, 7, 7, 7, undefined, 8, 8, 8, 8]);
  });

  it('states two locations at most, and equal clauses once', () => {
    const statements = [CAR, { ...CAR }, states('the van has left', 'disappear'), states('the dog has moved', 'move')];
    expect(compose('a dog', { statements }).sentence.text).toBe('a car has appeared and the van has left');
  });

  it.each([
    // kind of the whole change, kinds of the statements, kind of the answer
    ['appear', ['appear'], 'appear'],
    ['appear', ['disappear'], 'disappear'],
    ['move', ['disappear', 'appear'], 'multi'],
    ['multi', ['appear'], 'multi'],
    ['multi', ['appear', 'disappear'], 'multi'],
  ] as const)('of a change of kind %s with statements of %j the kind is %s', (kind, kinds, expected) => {
    const statements = kinds.map((one) => states(`the car is ${one}`, one));
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

  it.each([
    ['nothing has changed', 0.05, 'something has appeared on the left'],
    ['there is no change', 0.45, 'something has appeared in the middle'],
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

  it('states no location without a region', () => {
    expect(compose('', { kind: 'multi', regions: [] }).sentence.text).toBe('several things have changed');
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
