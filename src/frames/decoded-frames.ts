/**
 * Decoded frames in shared memory. Some are kept, because the "after" of a camera's comparison is often the "before" of
 * its next one. A buffer is free again when neither a comparison nor the kept frames use it.
 */
import { LRUCache } from 'lru-cache';
import { type DecodedFrame, type DecodeOptions, decodeFrame } from './decode.js';
import { PixelBufferPool } from './pixel-buffers.js';

/** Buffers that one comparison uses. */
export type HeldBuffers = Uint8Array[];

export class DecodedFrames {
  readonly #pool = new PixelBufferPool();
  readonly #limit: number;
  /** undefined: none is kept */
  readonly #kept: LRUCache<string, DecodedFrame> | undefined;

  /** @param limit of the kept frames, in bytes; 0 keeps none */
  constructor(limit: number) {
    this.#limit = limit;
    if (limit === 0) return;
    const sizeCalculation = ({ data }: DecodedFrame) => data.buffer.byteLength;
    this.#kept = new LRUCache({ maxSize: limit, sizeCalculation, dispose: ({ data }) => this.#pool.give(data) });
  }

  /** @returns a buffer of exactly `bytes` bytes, which `held` receives */
  take(bytes: number, held: HeldBuffers): Uint8Array {
    const pixels = this.#pool.take(bytes);
    held.push(pixels);
    return pixels;
  }

  /**
   * @param key the same for the same bytes; absent: the frame is decoded, and not kept
   * @param decoded the frame of these bytes, if the caller has decoded it already: its pixels are copied
   * @param held receives the buffer of the pixels. Other comparisons may read them too, so that a caller writes to the
   *   lost rows alone, of a frame that has some
   * @throws ScenedeltaError as decodeFrame
   */
  async decode(
    bytes: Uint8Array,
    key: string | undefined,
    { decoded, ...options }: Omit<DecodeOptions, 'allocate'> & { readonly decoded?: DecodedFrame | undefined },
    held: HeldBuffers,
  ): Promise<DecodedFrame> {
    const kept = key === undefined ? undefined : this.#kept?.get(key);
    if (kept !== undefined) {
      this.#pool.share(kept.data);
      held.push(kept.data);
      return kept;
    }
    const allocate = (length: number) => this.take(length, held);
    const frame = decoded ? copyOf(decoded, allocate) : await decodeFrame(bytes, { ...options, allocate });
    // The lost rows get the pixels of the other frame.
    if (key !== undefined && frame.lost === null && frame.data.buffer.byteLength <= this.#limit) {
      this.#pool.share(frame.data);
      this.#kept?.set(key, frame);
    }
    return frame;
  }

  /** Ends the use of the buffers by a comparison. */
  giveBack(held: HeldBuffers): void {
    for (const pixels of held) this.#pool.give(pixels);
  }
}

function copyOf(frame: DecodedFrame, allocate: (bytes: number) => Uint8Array): DecodedFrame {
  const data = allocate(frame.data.length);
  data.set(frame.data);
  return { ...frame, data };
}
