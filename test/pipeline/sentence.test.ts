import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import { deniesChange } from '../../src/model/wording.js';
import { composeSentence } from '../../src/pipeline/sentence.js';

const region = (x: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});

/** Composes the sentence of a caption graph that wrote `text`; row t of its attention is [t]. */
function compose(text: string, kind = 'appear', regions = [region(0.1)]) {
  const words = text === '' ? [] : text.split(' ');
  const vocabulary = ['<pad>', '<unk>', '<start>', '<end>', ...new Set(words)];
  const output: CaptionOutput = {
    ids: BigInt64Array.from(words, (word) => BigInt(vocabulary.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: null,
  };
  const special = { pad: 0, unk: 1, start: 2, end: 3 };
  return composeSentence(output, { kind: { name: kind, score: 0.6 } }, regions, { vocabulary, special });
}

describe('composeSentence', () => {
  it("keeps the decoder's sentence that states the kind", () => {
    const { sentence, attention } = compose('a car has appeared');
    expect(sentence.text).toBe('a car has appeared');
    expect(sentence.score).toBeCloseTo(0.9, 6);
    expect(attention.map(([row]) => row)).toEqual([0, 1, 2, 3]);
  });

  it('drops a clause that contradicts the kind, with the attention of its words', () => {
    const { sentence, attention } = compose('a man has left and a car has appeared');
    expect(sentence.text).toBe('a car has appeared');
    expect(attention.map(([row]) => row)).toEqual([5, 6, 7, 8]);
  });

  it.each([
    ['nothing has changed', 0.05, 'something has appeared on the left'],
    ['there is no change', 0.45, 'something has appeared in the middle'],
    ['the scene is the same as before', 0.9, 'something has appeared on the right'],
    ['only the light has changed', 0.9, 'something has appeared on the right'],
    ['', 0.9, 'something has appeared on the right'],
  ])('replaces "%s" by a plain sentence with the score of the kind', (text, x, expected) => {
    const { sentence, attention } = compose(text, 'appear', [region(x)]);
    expect(sentence.text).toBe(expected);
    expect(new Set(sentence.words.map((word) => word.score))).toEqual(new Set([0.6]));
    expect(sentence.score).toBe(0.6);
    expect(attention).toEqual([]);
  });

  it('states no location without a region', () => {
    expect(compose('', 'multi', []).sentence.text).toBe('several things have changed');
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
