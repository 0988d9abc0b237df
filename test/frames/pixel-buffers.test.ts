import { describe, expect, it } from '@jest/globals';
import { PixelBufferPool } from '../../src/frames/pixel-buffers.js';

describe('PixelBufferPool', () => {
  it('gives a view of exactly the requested bytes, in shared memory', () => {
    const pixels = new PixelBufferPool().take(1001);
    expect(pixels.length).toBe(1001);
    expect(pixels.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it('reuses a free buffer for a frame of similar size, and never one in use', () => {
    const pool = new PixelBufferPool();
    const first = pool.take(1000);
    pool.give(first);
    const second = pool.take(900);
    expect([second.length, second.buffer === first.buffer, pool.freeBytes]).toEqual([900, true, 0]);
    expect(pool.take(900).buffer).not.toBe(second.buffer);
  });

  it('drops the size given back longest ago if the free buffers exceed the limit', () => {
    const pool = new PixelBufferPool(4096);
    const [large, small] = [pool.take(4096), pool.take(1024)];
    pool.give(large);
    expect(pool.freeBytes).toBe(4096);
    pool.give(small);
    expect(pool.freeBytes).toBe(1024);
    expect(pool.take(1024).buffer).toBe(small.buffer);
    expect(pool.take(4096).buffer).not.toBe(large.buffer);
  });

  it('drops a buffer that exceeds the limit alone', () => {
    const pool = new PixelBufferPool(1024);
    pool.give(pool.take(4096));
    expect(pool.freeBytes).toBe(0);
  });

  it('frees a shared buffer after its last user', () => {
    const pool = new PixelBufferPool();
    const pixels = pool.take(1024);
    pool.share(pixels);
    pool.share(pixels);
    for (const free of [0, 0, 1024]) {
      pool.give(pixels);
      expect(pool.freeBytes).toBe(free);
    }
  });
});
