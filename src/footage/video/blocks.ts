/** Blocks of equal length out of a byte stream, in memory that is used again. */
import type { Readable } from 'node:stream';

/** Bytes that a pool keeps while they are not used. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** Lengths of which a pool is kept: recordings have few sizes of pictures. */
const KEPT_POOLS = 4;

/** Pool of buffers of one length. Fresh ones per frame, or per file, would be garbage of 100 MB per second. */
export class BlockPool {
  static readonly #pools = new Map<number, BlockPool>();
  readonly #free: Uint8Array[] = [];

  private constructor(readonly length: number) {}

  /** @param length bytes per block @returns the pool of this length, which all decoders share */
  static of(length: number): BlockPool {
    const pool = BlockPool.#pools.get(length) ?? new BlockPool(length);
    BlockPool.#pools.delete(length);
    BlockPool.#pools.set(length, pool);
    const [oldest] = BlockPool.#pools.keys();
    if (BlockPool.#pools.size > KEPT_POOLS && oldest !== undefined) BlockPool.#pools.delete(oldest);
    return pool;
  }

  take(): Uint8Array {
    return this.#free.pop() ?? new Uint8Array(this.length);
  }

  give(block: Uint8Array): void {
    if ((this.#free.length + 1) * this.length <= KEPT_BYTES) this.#free.push(block);
  }
}

/** @returns the blocks of the stream; bytes of an unfinished last one are dropped */
export async function* blocksOf(stream: Readable, pool: BlockPool): AsyncGenerator<Uint8Array, void> {
  let block = pool.take();
  let filled = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (let from = 0; from < chunk.length; ) {
        const count = Math.min(pool.length - filled, chunk.length - from);
        block.set(chunk.subarray(from, from + count), filled);
        filled += count;
        from += count;
        if (filled < pool.length) continue;
        const full = block;
        // A block that was handed over is given back by its owner alone.
        block = pool.take();
        filled = 0;
        yield full;
      }
    }
  } finally {
    pool.give(block);
  }
}
