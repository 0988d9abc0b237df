/** What is kept for frames to come; what is in use is bounded by how many jobs are held at a time. */
const KEPT_BYTES = 512 * 1024 * 1024;

/**
 * Shared memory for decoded frames, used again and again. Inference threads read a frame where it lies; but the engine does
 * not count shared memory when it decides to collect garbage, and giving each frame a block of its own grew the process by
 * 3 GB within 6,000 frames. Blocks come in powers of two, so that frames of similar size share them; sizes that come no more make room.
 */
export class FrameMemory {
  /** by size in bytes, the size given back longest ago first */
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  #kept = 0;

  constructor(readonly limit = KEPT_BYTES) {}

  /** Bytes that lie ready. */
  get kept(): number {
    return this.#kept;
  }

  /** @returns a view of exactly `bytes`, with old contents */
  take(bytes: number): Uint8Array {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 1)));
    const block = this.#free.get(size)?.pop();
    if (block !== undefined) this.#kept -= size;
    return new Uint8Array(block ?? new SharedArrayBuffer(size), 0, bytes);
  }

  /** @param frame from `take`; nobody may read it any more */
  give(frame: Uint8Array): void {
    const block = frame.buffer as SharedArrayBuffer;
    const size = block.byteLength;
    const blocks = this.#free.get(size) ?? [];
    blocks.push(block);
    this.#free.delete(size);
    this.#free.set(size, blocks);
    this.#kept += size;
    for (const [oldSize, old] of this.#free) {
      while (this.#kept > this.limit && old.pop() !== undefined) this.#kept -= oldSize;
      if (old.length === 0) this.#free.delete(oldSize);
    }
  }
}
