/** The caption graph about a location, in both directions of time. */
import type { CaptionOutput } from '../../src/model/graph-io.js';
import { attentionOf, witnessOf } from '../../src/pipeline/witness.js';

const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
const BOX = { x: 0, y: 0, width: 1, height: 1 };

/** @param logits of some kinds; the others have 0 */
function output(text: string, vocabulary: readonly string[], logits: Readonly<Record<string, number>>): CaptionOutput {
  const words = text === '' ? [] : text.split(' ');
  return {
    ids: BigInt64Array.from(words, (word) => BigInt(vocabulary.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: Float32Array.from(KINDS, (kind) => logits[kind] ?? 0),
  };
}

function witness(forward: string, reversed: string, logits: Readonly<Record<string, number>> = {}, back = logits) {
  const words = new Set(`${forward} ${reversed}`.split(' ').filter((word) => word !== ''));
  const vocabulary = ['<pad>', '<unk>', '<start>', '<end>', ...words];
  const manifest = { vocabulary, special: { pad: 0, unk: 1, start: 2, end: 3 }, kinds: KINDS };
  return witnessOf(output(forward, vocabulary, logits), output(reversed, vocabulary, back), { crop: BOX }, manifest);
}

it('reads the first clause of each direction, and the kind of the pair', () => {
  const { clauses } = witness('a red car has appeared on the left and', 'the white van is gone');
  expect(clauses.map(({ kind, reversed }) => [kind, reversed])).toEqual([
    ['appear', false],
    ['appear', true],
  ]);
  expect(clauses.map(({ things }) => things)).toEqual([
    { after: { noun: 'car', colour: 'red' } },
    { after: { noun: 'van', colour: 'white' } },
  ]);
});

it('reads both things of a replacement', () => {
  const [clause] = witness('the car has been replaced by a van', '').clauses;
  expect(clause?.things).toEqual({ before: { noun: 'car', colour: null }, after: { noun: 'van', colour: null } });
});

it('has no clause of words of another grammar', () => {
  expect(witness('nothing has changed', 'cars everywhere').clauses).toEqual([]);
});

it('has the mean of the kinds of both directions, of which one is exchanged', () => {
  const { kinds } = witness('a car', 'a car', { appear: 9 }, { disappear: 9 });
  expect(kinds.appear).toBeGreaterThan(0.99);
  const torn = witness('a car', 'a car', { appear: 9 }, { appear: 9 });
  expect([torn.kinds.appear, torn.kinds.disappear]).toEqual([expect.closeTo(0.5, 2), expect.closeTo(0.5, 2)]);
});

it('gives the attention of a role, else that of all words', () => {
  const one = witness('a red car has appeared', '');
  expect(attentionOf(one, 'noun').weights[0]).toBe(2);
  expect(attentionOf(one, 'place').weights[0]).toBe(2);
  expect(attentionOf(witness('nothing has changed', ''), 'noun').weights[0]).toBe(1);
});
