import { FrameMemory } from '../../src/frames/pixel-buffers.js';
import { FeatureCache, featureKey } from '../../src/inference/feature-cache.js';

/** 40 bytes an entry. */
const features = () => ({ coarse: new Float32Array(4), fine: new Float32Array(6) });

describe('FeatureCache', () => {
  it('gives back what was put in, by frame and bundle', () => {
    const cache = new FeatureCache(1000);
    const put = features();
    cache.set(featureKey('frame', 'bundle'), put);
    expect(cache.get(featureKey('frame', 'bundle'))).toBe(put);
    expect(cache.get(featureKey('frame', 'other'))).toBeUndefined();
    expect(cache.get(featureKey('other', 'bundle'))).toBeUndefined();
  });

  it('drops what was used longest ago, and counts bytes', () => {
    const cache = new FeatureCache(100);
    cache.set('a', features());
    cache.set('b', features());
    cache.get('a');
    cache.set('c', features());
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    expect(cache.bytes).toBe(80);
  });

  it('counts a key that is set twice once', () => {
    const cache = new FeatureCache(100);
    for (let i = 0; i < 5; i++) cache.set('a', features());
    expect(cache.bytes).toBe(40);
  });

  it('tells of every look whether it found something', () => {
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
});

describe('FrameMemory', () => {
  it('gives exactly the bytes asked for, in shared memory', () => {
    const frame = new FrameMemory().take(1001);
    expect(frame.length).toBe(1001);
    expect(frame.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it('uses a block again once it is given back, for frames of similar size', () => {
    const memory = new FrameMemory();
    const first = memory.take(900);
    const second = memory.take(900);
    expect(second.buffer).not.toBe(first.buffer);
    memory.give(first);
    expect(memory.take(1000).buffer).toBe(first.buffer);
    expect(memory.take(1000).buffer).not.toBe(first.buffer);
  });
});
