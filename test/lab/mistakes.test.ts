import { mistakesOf } from '../../lab/figures/mistakes.js';
import { appeared, both, pairOf, unchanged, van } from './labels.js';

const group = pairOf({ verdict: 'change', kind: 'appear', objects: [{ ...van, count: 3 }] });
const mistakes = (pair: typeof appeared, caption: string, kind: string, verdict = 'change') =>
  mistakesOf(pair, verdict, { caption, kind });

describe('mistakes of an answer', () => {
  it.each([
    // caption about a silver van that appeared at the lower left, mistakes
    ['a silver van has appeared on the left', []],
    ['a vehicle has appeared', []],
    ['a truck has appeared', ['wrong-noun']],
    ['something has appeared', ['no-noun']],
    ['a red van has appeared', ['wrong-colour']],
    ['a van has appeared on the right', ['wrong-place']],
    ['two vans have appeared', ['wrong-count']],
    ['a van has appeared and a man has appeared', ['false-clause']],
  ])('%s', (caption, expected) => {
    expect(mistakes(appeared, caption, 'appear')).toEqual(expected);
  });

  it('has several mistakes at once, in one order', () => {
    expect(mistakes(appeared, 'the red van on the right is gone', 'disappear')).toEqual(['wrong-kind', 'wrong-noun']);
    expect(mistakes(both, 'a red van has appeared', 'multi')).toEqual(['wrong-colour', 'left-out']);
  });

  it('compares one with several, and no numbers above one', () => {
    expect(mistakes(group, 'a van has appeared', 'appear')).toEqual(['wrong-count']);
    expect(mistakes(group, 'two vans have appeared', 'appear')).toEqual([]);
    expect(mistakes(group, 'a van has appeared and a van has appeared', 'appear')).toEqual([]);
  });

  it('depends on the verdict alone if the verdict is wrong', () => {
    expect(mistakes(appeared, 'nothing has changed', 'none', 'none')).toEqual(['missed']);
    expect(mistakes(appeared, 'only the light has changed', 'none', 'nuisance')).toEqual(['missed']);
    expect(mistakes(unchanged, 'a van has appeared', 'appear')).toEqual(['false-alarm']);
    expect(mistakes(unchanged, 'the camera is out of focus', 'none', 'tamper')).toEqual(['tamper']);
    expect(mistakes(unchanged, 'only the light has changed', 'none', 'nuisance')).toEqual([]);
    expect(mistakes(pairOf({ verdict: 'tamper' }), 'the camera is blocked', 'none', 'tamper')).toEqual([]);
  });

  it('has none if the pair has no label of a change', () => {
    expect(mistakes(pairOf({}), 'a van has appeared', 'appear')).toEqual([]);
  });
});
