import { readFileSync } from 'node:fs';
import { deniesChange } from '../../src/language/plain.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { LocationStatement } from '../../src/pipeline/location-statement.js';
import { composeSentence } from '../../src/pipeline/sentence.js';
import { JUDGE } from './judges.js';
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

interface Given {
  readonly kind?: string;
  readonly regions?: readonly MapRegion[];
  readonly statements?: readonly LocationStatement[];
}

/** Composes the sentence of a caption graph that wrote `text` about all locations; row t of its attention is [t]. */
function compose(text: string, { kind = 'appear', regions = [region(0.1)], statements = [] }: Given = {}) {
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
    ...(statements.length === 0 ? {} : { judge: JUDGE }),
  };
  const description = { joint, crops: [BOX], statements };
  return composeSentence(description, { name: kind, score: 0.6 }, regions, manifest);
}

describe('composeSentence of a bundle that names nothing', () => {
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

describe('composeSentence of judged events', () => {
  /** A statement about a thing with this noun, as probable; all of its words have the attention [7]. */
  const event = (text: string, noun: string, probability: number): LocationStatement => {
    const one = located(text, { score: 0.8, mark: () => 7, crops: [BOX], probability, regions: [region(0.1)] });
    const likely = (value: string) => ({ value, probability: 0.9 });
    const word = noun === 'car' ? ('vehicle' as const) : noun === 'bag' ? ('object' as const) : ('person' as const);
    const fact = {
      ...{ kind: { value: one.statement.kind, probability }, noun: likely(noun), nouns: [], colour: null, colours: [] },
      ...{ class: { value: word, probability: 0.9 }, count: { value: 1, probability: 0.9 }, place: null, way: null },
      regions: one.regions,
    };
    return { ...one, fact };
  };
  const car = (probability: number) => event('a car has appeared', 'car', probability);
  const man = (probability: number) => event('the man has moved', 'man', probability);
  const bag = (probability: number) => event('the bag is gone', 'bag', probability);
  const text = (...statements: LocationStatement[]) => compose('a dog', { statements }).sentence.text;

  it('states the most probable event, and others that are probable enough', () => {
    expect(text(bag(0.5), car(0.6))).toBe('a car has appeared');
    expect(text(bag(0.75), car(0.8))).toBe('a car has appeared, and the bag is gone');
    expect(text(car(0.8), car(0.75))).toBe('two cars have appeared');
  });

  it('states moves last', () => {
    expect(text(man(0.9), bag(0.8))).toBe('the bag is gone, and the man has moved');
  });

  it('does not count what is less sure, and speaks of others of a stated class', () => {
    expect(text(car(0.9), car(0.65), car(0.61))).toBe('a car has appeared, and others have appeared');
    expect(text(car(0.9), car(0.65))).toBe('a car has appeared, and another has appeared');
    expect(text(car(0.9), man(0.65))).toBe('a car has appeared');
    const mixed = [car(0.9), car(0.65), event('the car has left', 'car', 0.65)];
    expect(text(...mixed)).toBe('a car has appeared');
  });

  it('states a thing without a name only if no other thing has one', () => {
    const unnamed = event('something has appeared', 'something', 0.95);
    expect(text(unnamed, car(0.8))).toBe('a car has appeared');
    expect(text(unnamed)).toBe('something has appeared');
  });

  it('states no kind of a change whose most probable event is unsure, but the name of the thing', () => {
    const { sentence, kind } = compose('a dog', { statements: [man(0.2)], kind: 'multi' });
    expect(sentence.text).toBe('the man on the left has changed');
    expect(kind).toEqual({ name: 'multi', score: 0.6 });
    expect(text(event('something has moved', 'something', 0.2))).toBe('something has changed on the left');
  });

  it.each([
    ['appear', [car(0.9)], 'appear'],
    ['multi', [car(0.9), car(0.8)], 'appear'],
    ['appear', [car(0.9), man(0.8)], 'multi'],
  ])('of a change of kind %s the kind is that of the statements', (kind, statements, expected) => {
    expect(compose('a dog', { kind, statements }).kind).toEqual({ name: expected, score: 0.6 });
  });

  it('has the attention of its clauses, and none for "others"', () => {
    const { attention } = compose('a dog', { statements: [car(0.9), car(0.65)] });
    expect(attention.map((word) => word?.weights[0] ?? null)).toEqual([7, 7, 7, 7, null, null, null, null]);
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
