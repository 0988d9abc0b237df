/**
 * Shared memory for decoded frames, used again and again. Inference threads read a frame where it lies; but the engine does
 * not count shared memory when it decides to collect garbage, and giving each frame a block of its own grew the process by
 * 3 GB within 6,000 frames. Blocks come in powers of two, so that frames of similar size share them.
 */
export class FrameMemory {
  readonly #free = new Map<number, SharedArrayBuffer[]>();

  /** @returns a view of exactly `bytes`, with old contents */
  take(bytes: number): Uint8Array {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 1)));
    const block = this.#free.get(size)?.pop() ?? new SharedArrayBuffer(size);
    return new Uint8Array(block, 0, bytes);
  }

  /** @param frame from `take`; nobody may read it any more */
  give(frame: Uint8Array): void {
    const block = frame.buffer as SharedArrayBuffer;
    const blocks = this.#free.get(block.byteLength);
    if (blocks === undefined) this.#free.set(block.byteLength, [block]);
    else blocks.push(block);
  }
}
