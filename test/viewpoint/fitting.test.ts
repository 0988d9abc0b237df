import { resolve } from 'node:path';

interface Sample {
  readonly half: number;
  readonly score: number;
}

describe('a bound that figures are counted by', () => {
  it('was chosen on the other half of the places; the one that is shipped on all', async () => {
    const { boundsBy } = (await import(resolve('scripts/lib/logistic.mjs'))) as {
      boundsBy<T>(
        samples: readonly Sample[],
        choose: (samples: readonly Sample[]) => T,
      ): { shipped: T; counted: T[] };
    };
    const samples = [
      { half: 0, score: 0.9 },
      { half: 1, score: 0.4 },
      { half: 1, score: 0.2 },
    ];
    const highest = (from: readonly Sample[]) => Math.max(...from.map(({ score }) => score));
    expect(boundsBy(samples, highest)).toEqual({ shipped: 0.9, counted: [0.4, 0.9] });
  });
});
