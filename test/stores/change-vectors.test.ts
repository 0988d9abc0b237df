import { decodeVector, encodeVector } from '../../src/stores/changes/change-vectors.js';

const BUNDLE = 'a'.repeat(64);

describe('the codec of search vectors', () => {
  it('keeps the bundle, and values to the precision of half floats', () => {
    const values = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i * 37.1) / (1 + i));
    const text = encodeVector({ bundle: BUNDLE, values });
    expect(text).toHaveLength(64 + 1 + 344);
    const read = decodeVector(text);
    expect(read?.bundle).toBe(BUNDLE);
    for (const [i, value] of values.entries()) {
      expect(Math.abs((read?.values[i] as number) - value)).toBeLessThanOrEqual(Math.abs(value) * 2 ** -11 + 2 ** -25);
    }
  });

  it('keeps what half floats have exactly, and rounds to the nearest otherwise', () => {
    const exact = [0, 1, -1, 0.5, -0.333251953125, 2 ** -14, 2 ** -24, -(2 ** -24)];
    const rounded = [1 - 2 ** -13, 2 ** -14 - 2 ** -26, 2 ** -26];
    const { values } = decodeVector(
      encodeVector({ bundle: BUNDLE, values: Float32Array.from([...exact, ...rounded]) }),
    ) as NonNullable<ReturnType<typeof decodeVector>>;
    expect([...values]).toEqual([...exact, 1, 2 ** -14, 0]);
  });

  it.each([[null], [''], ['v2:other'], [`${BUNDLE}:`], [`${BUNDLE}:<>`], ['a:AAAA']])('has no vector in %j', (text) => {
    expect(decodeVector(text)).toBeUndefined();
  });
});
