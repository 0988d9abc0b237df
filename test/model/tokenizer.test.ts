import { toSentence } from '../../src/model/tokenizer.js';

const manifest = {
  vocabulary: ['<pad>', '<unk>', '<start>', '<end>', 'a', 'car', 'left'],
  special: { pad: 0, unk: 1, start: 2, end: 3 },
};
const ids = BigInt64Array.of(4n, 5n, 6n, 3n, 0n, 0n);
const logs = (...probabilities: number[]) => Float32Array.from([...probabilities, 1, 1, 1], Math.log);

describe('toSentence', () => {
  it('joins the words before the end with their probabilities and their geometric mean', () => {
    const sentence = toSentence(ids, logs(0.9, 0.5, 0.3), 3, manifest);
    expect(sentence.text).toBe('a car left');
    expect(sentence.words.map((word) => word.text)).toEqual(['a', 'car', 'left']);
    [0.9, 0.5, 0.3].forEach((score, i) => {
      expect(sentence.words[i]?.score).toBeCloseTo(score, 6);
    });
    expect(sentence.score).toBeCloseTo((0.9 * 0.5 * 0.3) ** (1 / 3), 6);
  });

  it('limits a score to 1 if rounding made a logarithm positive', () => {
    const sentence = toSentence(ids, Float32Array.of(1e-6, 0, 0, 0, 0, 0), 3, manifest);
    expect(sentence.words[0]?.score).toBe(1);
    expect(sentence.score).toBe(1);
  });

  it('returns an empty sentence with score 0 for no words', () => {
    expect(toSentence(ids, logs(1, 1, 1), 0, manifest)).toEqual({ text: '', words: [], score: 0 });
  });

  it.each([
    ['beyond the vocabulary', 7n],
    ['negative', -1n],
    ['the pad', 0n],
    ['the end', 3n],
  ])('refuses a word id that is %s, with its position', (_, id) => {
    const bad = BigInt64Array.of(4n, id, 6n);
    expect(() => toSentence(bad, logs(1, 1, 1), 3, manifest)).toThrow(`word 2 has id ${id}, expected a word`);
  });
});
