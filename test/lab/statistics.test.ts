import fc from 'fast-check';
import { auroc, calibration, clopperPearson, recallAtRate } from '../../lab/figures/statistics.js';

const scores = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 30 });

describe('AUROC', () => {
  it.each([
    [[2, 3], [0, 1], 1],
    [[0, 1], [2, 3], 0],
    [[1, 1], [1, 1], 0.5],
    [[1, 3], [2], 0.5],
    [[1, 2], [1], 0.75],
  ])('of %j against %j is %d', (positives, negatives, expected) => {
    expect(auroc(positives, negatives)).toBe(expected);
  });

  it('is null if one of the groups is empty', () => {
    expect(auroc([], [1])).toBeNull();
    expect(auroc([1], [])).toBeNull();
  });

  it('becomes 1 minus itself if the groups are exchanged', () => {
    fc.assert(fc.property(scores, scores, (a, b) => expect(auroc(a, b)).toBeCloseTo(1 - (auroc(b, a) ?? 0), 12)));
  });

  it('depends only on the order of the scores', () => {
    const stretch = (x: number) => Math.exp(x / 7) - 3;
    fc.assert(fc.property(scores, scores, (a, b) => expect(auroc(a.map(stretch), b.map(stretch))).toBe(auroc(a, b))));
  });
});

describe('recall at a false-alarm rate', () => {
  const negatives = Array.from({ length: 40 }, (_, i) => i);

  it('allows floor(rate * negatives) of them above the threshold', () => {
    expect(recallAtRate([36.5, 38.5, 50], negatives, 0.05)).toEqual({
      recall: 2 / 3,
      threshold: 37,
      falseAlarms: 2,
    });
  });

  it('allows none if a single one exceeds the rate', () => {
    expect(recallAtRate([38.5, 39.5], negatives, 0.01)).toEqual({
      recall: 0.5,
      threshold: 39,
      falseAlarms: 0,
    });
  });

  it('does not count a positive that only equals the highest negative', () => {
    expect(recallAtRate([39], negatives, 0)?.recall).toBe(0);
  });

  it('never grows when the rate shrinks, and keeps the rate', () => {
    fc.assert(
      fc.property(scores, scores, (a, b) => {
        const [wide, tight] = [recallAtRate(a, b, 0.2), recallAtRate(a, b, 0.05)];
        expect(tight?.recall).toBeLessThanOrEqual(wide?.recall ?? 0);
        const above = b.filter((x) => x > (wide?.threshold ?? 0)).length;
        expect(above).toBeLessThanOrEqual(0.2 * b.length);
      }),
    );
  });
});

describe('the exact binomial interval (Clopper & Pearson)', () => {
  // For k = 0 the closed form is 1 - (a/2)^(1/n); the others are quantiles of beta distributions.
  it.each([
    [0, 10, 0, 0.30849710781876083],
    [10, 10, 0.6915028921812392, 1],
    [0, 39, 0, 1 - 0.025 ** (1 / 39)],
    [5, 10, 0.18708602844739855, 0.8129139715526014],
    [1, 20, 0.001265089498, 0.24873282711272],
    [95, 100, 0.8871650888945545, 0.9835681208452057],
  ])('of %d in %d is [%f, %f]', (hits, of, low, high) => {
    const [from, to] = clopperPearson(hits, of);
    expect(from).toBeCloseTo(low, 6);
    expect(to).toBeCloseTo(high, 6);
  });

  it('is [0, 1] without observations', () => {
    expect(clopperPearson(0, 0)).toEqual([0, 1]);
  });

  it('contains the rate, and mirrors', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
        const hits = Math.round(of * share);
        const [from, to] = clopperPearson(hits, of);
        expect(from).toBeLessThanOrEqual(hits / of);
        expect(to).toBeGreaterThanOrEqual(hits / of);
        expect(clopperPearson(of - hits, of)[0]).toBeCloseTo(1 - to, 9);
      }),
      { numRuns: 40 },
    );
  });
});

describe('calibration', () => {
  it('has no error if the confidences are the shares', () => {
    const confidences = Array.from({ length: 10 }, () => 0.3);
    const outcomes = confidences.map((_, i) => i < 3);
    const { expectedError, brier } = calibration(confidences, outcomes);
    expect(expectedError).toBeCloseTo(0, 12);
    expect(brier).toBeCloseTo(0.21, 12);
  });

  it('has the distance as error otherwise; 1 belongs to the last bin', () => {
    const { expectedError, brier, bins } = calibration([1, 1, 0], [true, false, false]);
    expect(expectedError).toBeCloseTo(1 / 3, 12);
    expect(brier).toBeCloseTo(1 / 3, 12);
    expect(bins.at(-1)?.count).toBe(2);
  });
});
