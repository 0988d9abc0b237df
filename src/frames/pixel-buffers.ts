/**
 * Pool of shared memory for decoded frames. Inference threads read a frame where it lies, so it needs a
 * SharedArrayBuffer; but the engine does not count shared memory when it decides to collect garbage, and one new buffer
 * per frame grew the process by 3 GB within 6,000 frames. Sizes are powers of two, so that frames of similar size share
 * buffers.
 */

/** Limit of the free buffers. Buffers in use are limited by the number of jobs at a time. */
const FREE_BYTES_LIMIT = 512 * 1024 * 1024;

export class PixelBufferPool {
  /** free buffers by size in bytes; the size given back longest ago is first, and is the first to be dropped */
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  #freeBytes = 0;
  /** buffers with several users, and how many there are beside the first */
  readonly #more = new Map<ArrayBufferLike, number>();

  /** @param limit of the free buffers, in bytes */
  constructor(readonly limit = FREE_BYTES_LIMIT) {}

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** @returns a view of exactly `bytes` bytes; its contents are undefined */
  take(bytes: number): Uint8Array {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 1)));
    const buffer = this.#free.get(size)?.pop();
    if (buffer !== undefined) this.#freeBytes -= size;
    return new Uint8Array(buffer ?? new SharedArrayBuffer(size), 0, bytes);
  }

  /** Counts another user of a view of `take`, who gives it back, too. */
  share(pixels: Uint8Array): void {
    this.#more.set(pixels.buffer, (this.#more.get(pixels.buffer) ?? 0) + 1);
  }

  /** @param pixels a view of `take` that this user reads no more; after the last one the buffer is free */
  give(pixels: Uint8Array): void {
    const buffer = pixels.buffer as SharedArrayBuffer;
    const more = this.#more.get(buffer) ?? 0;
    if (more > 1) this.#more.set(buffer, more - 1);
    else this.#more.delete(buffer);
    if (more > 0) return;
    const size = buffer.byteLength;
    const buffers = this.#free.get(size) ?? [];
    buffers.push(buffer);
    this.#free.delete(size);
    this.#free.set(size, buffers);
    this.#freeBytes += size;
    for (const [oldSize, old] of this.#free) {
      while (this.#freeBytes > this.limit && old.pop() !== undefined) this.#freeBytes -= oldSize;
      if (old.length === 0) this.#free.delete(oldSize);
    }
  }
}
