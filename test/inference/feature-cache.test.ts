import { FeatureCache, featureKey } from '../../src/inference/feature-cache.js';

const SIZE = { width: 6, height: 4 };
/** 40 bytes per entry. */
const features = () => ({ coarse: new Float32Array(4), fine: new Float32Array(6) });

describe('FeatureCache', () => {
  it('returns the features of a frame and a bundle', () => {
    const cache = new FeatureCache(1000);
    const put = features();
    cache.set(featureKey('frame', SIZE, 'bundle'), put);
    expect(cache.get(featureKey('frame', SIZE, 'bundle'))).toBe(put);
    expect(cache.get(featureKey('frame', SIZE, 'other'))).toBeUndefined();
    expect(cache.get(featureKey('other', SIZE, 'bundle'))).toBeUndefined();
  });

  it('drops the least recently used entry, and counts bytes', () => {
    const cache = new FeatureCache(100);
    cache.set('a', features());
    cache.set('b', features());
    cache.get('a');
    cache.set('c', features());
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    expect(cache.bytes).toBe(80);
  });

  it('has one entry for a key that is set twice', () => {
    const cache = new FeatureCache(100);
    for (let i = 0; i < 5; i++) cache.set('a', features());
    expect(cache.bytes).toBe(40);
  });

  it('reports each look-up as hit or miss', () => {
    const lookups: boolean[] = [];
    const cache = new FeatureCache(1000, (hit) => lookups.push(hit));
    cache.get('a');
    cache.set('a', features());
    cache.get('a');
    expect(lookups).toEqual([false, true]);
  });

  it.each([0, 39])('keeps nothing that is larger than its limit of %i bytes', (limit) => {
    const cache = new FeatureCache(limit);
    cache.set('a', features());
    expect([cache.get('a'), cache.bytes]).toEqual([undefined, 0]);
  });

  it('drops the old entry of a key whose new features exceed the limit', () => {
    const cache = new FeatureCache(50);
    cache.set('a', features());
    cache.set('a', { coarse: new Float32Array(40), fine: new Float32Array(6) });
    expect([cache.get('a'), cache.bytes]).toEqual([undefined, 0]);
  });
});
