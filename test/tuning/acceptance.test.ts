import { compareAnswers, isGain } from '../../src/tuning/acceptance.js';

describe('compareAnswers', () => {
  it('counts what becomes better and worse', () => {
    expect(
      compareAnswers([
        [0, 1],
        [1, 2],
        [1, 1],
        [2, 1],
      ]),
    ).toEqual({ answers: 4, better: 2, worse: 1 });
  });
});

describe('isGain', () => {
  // The binomial tail of p = 1/2: 4 of 4 have a chance of 1/16, 3 of 3 of 1/8.
  it.each([
    [0, 0, false],
    [1, 0, false],
    [3, 0, false],
    [4, 0, true],
    [4, 1, false],
    [9, 3, true],
    [8, 3, false],
    [500, 500, false],
    [600, 400, true],
  ])('%d better and %d worse: %s', (better, worse, expected) => {
    expect(isGain({ answers: 2_000, better, worse })).toBe(expected);
  });
});
