/** Searches with vectors: fused with the words, filtered first, and never across bundles. */
import { SearchIndex } from '../../src/search/search-index.js';
import type { SearchedChange } from '../../src/search/texts.js';
import type { QueryVector } from '../../src/search/vector-list.js';
import { storedChange } from '../helpers/changes.js';

const change = (name: string, caption: string, given: Parameters<typeof storedChange>[0] = {}): SearchedChange =>
  storedChange({ name, kind: / left$/.test(caption) ? 'disappear' : 'appear', caption, ...given });
const NEW = 'bundle new';
const OLD = 'bundle old';
/** Unit vector at an angle from the first axis, in degrees. */
const at = (degrees: number): Float32Array => {
  const angle = (degrees * Math.PI) / 180;
  return Float32Array.of(Math.cos(angle), Math.sin(angle), 0);
};
const query = (least = 0.8): QueryVector => ({ bundle: NEW, values: at(0), least });

const HORSE = change('horse', 'a brown horse has appeared');
const VAN = change('van', 'a white van has appeared');
const CAR = change('car', 'a red car has appeared');
const GONE = change('gone', 'a red car has left');
const ALL = [HORSE, VAN, CAR, GONE];

function indexOf(angles: Readonly<Record<string, number>>, bundle = NEW): SearchIndex {
  const index = new SearchIndex();
  for (const one of ALL) {
    const angle = Object.entries(angles).find(([caption]) => one.caption.includes(caption))?.[1];
    index.put(one, angle === undefined ? undefined : { bundle, values: at(angle) });
  }
  return index;
}
const captions = (index: SearchIndex, text: string, vector?: QueryVector, filter = {}) =>
  index.search(text, filter, vector).hits.map(({ id }) => ALL.find((one) => one.id === id)?.caption);

describe('A search with the vector of its query', () => {
  it('also finds a change whose sentence is wrong, if its vector is near', () => {
    const index = indexOf({ horse: 10, van: 80 });
    expect(captions(index, 'a person')).toEqual([]);
    expect(captions(index, 'a person', query())).toEqual([HORSE.caption]);
    const [hit] = index.search('a person', {}, query()).hits;
    expect(hit).toMatchObject({ words: [], score: 1 / 61 });
    expect(hit?.cosine).toBeCloseTo(Math.cos(Math.PI / 18), 5);
  });

  it('orders the changes that words find by both, however far their vectors are', () => {
    const index = indexOf({ 'red car has appeared': 100, van: 85 });
    expect(captions(index, 'white or red vehicle', query())[0]).toBe(VAN.caption);
    const hits = index.search('a red car', {}, query()).hits;
    expect(hits.map(({ score }) => score)).toEqual([...hits.map(({ score }) => score)].sort((a, b) => b - a));
    expect(hits.find(({ id }) => id === CAR.id)?.score).toBeGreaterThan(1 / 61);
  });

  it('ranks opposite directions last, also of changes that only vectors find', () => {
    const index = indexOf({ 'has left': 0, horse: 20 });
    expect(captions(index, 'a person has appeared', query()).at(-1)).toBe(GONE.caption);
    expect(captions(index, 'a person has appeared', query())).toContain(HORSE.caption);
  });

  it('finds nothing for a query without a known word, and nothing below the least cosine', () => {
    const index = indexOf({ horse: 0 });
    for (const text of ['xqzvbn wwkjh', '', '\u{1F697}\u{1F4A8}', '*:* {}', 'xqzvbn '.repeat(1_500)]) {
      expect(index.search(text, {}, query())).toMatchObject({ hits: [], compared: 0 });
    }
    expect(captions(indexOf({ horse: 40 }), 'a person', query())).toEqual([]);
  });

  it('filters first, and counts what it compared', () => {
    const index = indexOf({ horse: 10, van: 20, car: 5 });
    expect(index.search('a person', {}, query()).compared).toBe(4);
    const found = index.search('a person', { kind: 'disappear' }, query());
    expect(found).toMatchObject({ compared: 1, hits: [expect.objectContaining({ id: GONE.id })] });
    expect(index.search('a person', { camera: () => false }, query()).hits).toEqual([]);
    expect(captions(index, 'a person', query(), { except: HORSE.id })).not.toContain(HORSE.caption);
  });

  it('does not compare vectors of another bundle, nor of another length', () => {
    expect(indexOf({ horse: 0 }, OLD).search('a person', {}, query())).toMatchObject({ hits: [], compared: 0 });
    const index = indexOf({ horse: 0 });
    index.put(VAN, { bundle: NEW, values: new Float32Array(7) });
    expect(index.search('a person', {}, query()).compared).toBe(1);
    expect(index.search('a person', {}, { ...query(), values: new Float32Array(7) }).compared).toBe(0);
  });

  it('deletes the vector of a change that is removed or replaced', () => {
    const index = indexOf({ horse: 0, van: 0 });
    index.remove(HORSE.id);
    index.put(VAN);
    expect([index.vectorOf(HORSE.id), index.vectorOf(VAN.id)]).toEqual([undefined, undefined]);
    expect(captions(index, 'a person', query())).toEqual([]);
    index.put(CAR, { bundle: NEW, values: at(0) });
    expect([...(index.vectorOf(CAR.id)?.values ?? [])]).toEqual([...at(0)]);
    index.clear();
    expect(index.search('a person', {}, query()).compared).toBe(0);
  });

  it('keeps thousands of vectors apart', () => {
    const index = new SearchIndex();
    const many = Array.from({ length: 5_000 }, (_, i) => change(`many ${i}`, `a car has appeared in row ${i}`));
    for (const [i, one] of many.entries()) index.put(one, { bundle: NEW, values: at((i % 360) / 2) });
    expect([...(index.vectorOf((many[4_500] as SearchedChange).id)?.values ?? [])]).toEqual([...at(90)]);
    expect(index.search('a person', {}, query(0.99999)).hits).toHaveLength(14);
  });
});
