import { inSharedMemory } from '../../src/inference/shared-memory.js';

const batch = Float32Array.from({ length: 6 }, (_, i) => i + 0.5);
const output = {
  name: 'row 1',
  logits: batch.subarray(3, 6),
  words: [BigInt64Array.of(4n, -1n), BigInt64Array.of(2n)],
  map: { width: 3, height: 1, data: batch.subarray(0, 3) },
  exchanged: null,
};

describe('inSharedMemory', () => {
  const shared = inSharedMemory(output);

  it('keeps all values', () => {
    expect(shared).toEqual(output);
  });

  it('puts all arrays into one block, without the rest of their batch', () => {
    const arrays = [shared.logits, ...shared.words, shared.map.data];
    const [{ buffer } = { buffer: null }] = arrays;
    expect(buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(arrays.map((array) => array.buffer === buffer)).toEqual([true, true, true, true]);
    expect(buffer?.byteLength).toBe(16 + 16 + 8 + 16);
  });

  it('copies nothing that is in shared memory already, and no bytes', () => {
    const again = { ...shared, cells: Uint8Array.of(1, 2) };
    const twice = inSharedMemory(again);
    expect(twice.logits).toBe(shared.logits);
    expect(twice.cells).toBe(again.cells);
  });

  it('does not change the batch', () => {
    shared.logits.fill(7);
    expect([...batch]).toEqual([0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    expect(batch.buffer.byteLength).toBe(24);
  });
});
