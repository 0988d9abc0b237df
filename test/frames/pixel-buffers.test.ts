import { describe, expect, it } from '@jest/globals';
import { FrameMemory } from '../../src/frames/pixel-buffers.js';

describe('frame memory', () => {
  it('gives the same block to the next frame of similar size, as many bytes as it asks for', () => {
    const memory = new FrameMemory();
    const first = memory.take(1000);
    memory.give(first);
    const second = memory.take(900);
    expect([second.length, second.buffer === first.buffer, memory.kept]).toEqual([900, true, 0]);
    expect(memory.take(900).buffer).not.toBe(second.buffer);
  });

  it('keeps no more than it may: sizes that come no more make room for those that do', () => {
    const memory = new FrameMemory(4096);
    const [large, small] = [memory.take(4096), memory.take(1024)];
    memory.give(large);
    expect(memory.kept).toBe(4096);
    memory.give(small);
    expect(memory.kept).toBe(1024);
    expect(memory.take(1024).buffer).toBe(small.buffer);
    expect(memory.take(4096).buffer).not.toBe(large.buffer);
  });

  it('keeps nothing of a block that alone is more', () => {
    const memory = new FrameMemory(1024);
    memory.give(memory.take(4096));
    expect(memory.kept).toBe(0);
  });
});
