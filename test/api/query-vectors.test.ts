import { createQueryVectors } from '../../src/api/search/query-vectors.js';

const ANSWER = { bundle: 'b', values: [1, 0], least: 0.6 };
const VECTOR = { ...ANSWER, values: Float32Array.of(1, 0) };
const never = () => new Promise<never>(() => {});

describe('the vector of a query', () => {
  it('is asked once for equal queries, and then cached', async () => {
    let asked = 0;
    const vectorOf = createQueryVectors({
      ask: async () => {
        asked++;
        return ANSWER;
      },
    });
    expect(await Promise.all([vectorOf('a car'), vectorOf('a car')])).toEqual([VECTOR, VECTOR]);
    expect(await vectorOf('a car')).toEqual(VECTOR);
    expect(asked).toBe(1);
    await vectorOf('a van');
    expect(asked).toBe(2);
  });

  it('is missing if the model has no graph, and if no worker answers', async () => {
    expect(await createQueryVectors({ ask: async () => null })('a car')).toEqual({ missing: 'no_graph' });
    expect(await createQueryVectors({ ask: () => Promise.reject(new Error('away')) })('a car')).toEqual({
      missing: 'no_worker',
    });
    expect(await createQueryVectors({ ask: never }, { waitMs: 5 })('a car')).toEqual({ missing: 'no_worker' });
  });

  it('keeps no further search waiting until a worker answers', async () => {
    let answers = false;
    const ask = async () => (answers ? ANSWER : never());
    const vectorOf = createQueryVectors({ ask }, { waitMs: 20 });
    expect(await vectorOf('a car')).toEqual({ missing: 'no_worker' });
    answers = true;
    expect(await vectorOf('a van')).toEqual({ missing: 'no_worker' });
    expect(await vectorOf('a van')).toEqual(VECTOR);
    expect(await vectorOf('a bus')).toEqual(VECTOR);
  });

  it('is used by a later search if it came too late for the first', async () => {
    let answer: (given: typeof ANSWER) => void = () => {};
    const vectorOf = createQueryVectors(
      {
        ask: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      },
      { waitMs: 5 },
    );
    expect(await vectorOf('a car')).toEqual({ missing: 'no_worker' });
    answer(ANSWER);
    await new Promise(setImmediate);
    expect(await vectorOf('a car')).toEqual(VECTOR);
  });
});
