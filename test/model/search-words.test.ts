/** The encoder of texts equals the training's, whose encodings lie in the fixture. */
import type { SearchManifest } from '../../src/model/search-manifest.js';
import { createTextEncoder } from '../../src/model/search-vectors.js';
import { tinySearch } from './tiny-search.js';

let search: SearchManifest;
beforeAll(async () => {
  search = (await tinySearch()).search;
});

describe('createTextEncoder', () => {
  it('encodes texts of many languages, emoji, syntax and nothing as the training does', () => {
    const encode = createTextEncoder(search);
    expect(search.examples.length).toBeGreaterThan(5);
    for (const { text, ids, grams } of search.examples) {
      const encoded = encode(text);
      expect([text, [...encoded.ids].map(Number)]).toEqual([text, ids]);
      expect([text, [...encoded.grams].map(Number)]).toEqual([text, grams.flat()]);
    }
  });

  it('reads the first words of a text of 10,000 characters, and the end at the last position', () => {
    const { ids } = createTextEncoder(search)('gone '.repeat(2_000));
    const [gone, end] = [BigInt(search.vocabulary.indexOf('gone')), BigInt(search.special.end)];
    expect(ids).toHaveLength(search.max_words);
    expect([...ids]).toEqual([...Array.from({ length: search.max_words - 1 }, () => gone), end]);
  });

  it('gives a word outside the vocabulary its n-grams', () => {
    const encode = createTextEncoder(search);
    const [known, misspelled] = [encode('gone'), encode('goone')];
    expect(misspelled.ids[0]).toBe(BigInt(search.special.unk));
    const rows = (grams: BigInt64Array) => new Set([...grams].filter((row) => row > 0n));
    const shared = [...rows(known.grams)].filter((row) => rows(misspelled.grams).has(row));
    expect(shared.length).toBeGreaterThan(2);
  });
});
