import { type ChangeStatement, reversedStatement } from '../../src/language/plain.js';
import { readStatement } from '../../src/language/read-clauses.js';
import { write } from '../../src/language/write.js';
import { shareOf } from '../../src/model/calibration.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import { inBothDirections } from '../../src/pipeline/both-directions.js';
import { reversedKind } from '../../src/schemas/comparison.js';

const BOX = { x: 0.1, y: 0.1, width: 0.1, height: 0.1 };
const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];

/** An output whose kinds have these probabilities, in the order of KINDS. */
const judging = (...shares: number[]): CaptionOutput => ({
  ids: new BigInt64Array(0),
  logProbabilities: new Float32Array(0),
  length: 0,
  attention: [],
  kindLogits: Float32Array.from(shares, Math.log),
});
const sharesOf = ({ kindLogits }: CaptionOutput): number[] => Array.from(kindLogits as Float32Array, Math.exp);

describe('inBothDirections', () => {
  const given = judging(0.02, 0.6, 0.1, 0.2, 0.05, 0.03);
  const reversed = judging(0.04, 0.2, 0.3, 0.4, 0.03, 0.03);

  it('has the mean of both directions, in which what appeared disappears', () => {
    const expected = [0.03, 0.45, 0.15, 0.3, 0.04, 0.03];
    sharesOf(inBothDirections(given, reversed, KINDS)).forEach((share, i) => {
      expect(share).toBeCloseTo(expected[i] as number, 5);
    });
  });

  it('is reversed if the frames are exchanged', () => {
    const [ahead, back] = [inBothDirections(given, reversed, KINDS), inBothDirections(reversed, given, KINDS)];
    for (const kind of ['appear', 'disappear', 'move', 'replace'] as const) {
      const [a, b] = [
        shareOf(kind, ahead.kindLogits as never, KINDS),
        shareOf(reversedKind(kind), back.kindLogits as never, KINDS),
      ];
      expect(a).toBeCloseTo(b, 6);
    }
  });

  it('is the own output of a graph that judges no kind', () => {
    const silent = { ...given, kindLogits: null };
    expect(inBothDirections(silent, silent, KINDS)).toEqual({ ...silent, reversed: silent });
  });
});

it.each([
  ['the car has moved to the left', 'The car has moved to the right.'],
  ['the car has moved slightly to the right', 'The car has moved slightly to the left.'],
  ['the man has walked closer', 'The man has walked further away.'],
  ['the man has walked away from the camera', 'The man has walked towards the camera.'],
  ['the box has been moved', 'The box has been moved.'],
  ['a car has appeared on the left', 'The object on the left is gone.'],
])('"%s" is "%s" in the other direction', (words, expected) => {
  const turned = (text: string) => write(reversedStatement(readStatement(text) as ChangeStatement, BOX));
  expect(turned(words)).toBe(expected);
  if (words.includes('moved')) expect(turned(expected)).toBe(write(readStatement(words) as ChangeStatement));
});
