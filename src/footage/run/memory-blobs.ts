/** Blob store in memory, for the frames that a running sequence still needs: a few at a time. */
import type { BlobStore } from '../../base/blobs.js';

export class MemoryBlobs implements BlobStore {
  readonly #blobs = new Map<string, Uint8Array>();

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.#blobs.set(key, bytes);
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(key);
  }

  async delete(key: string): Promise<void> {
    this.#blobs.delete(key);
  }

  /** Ages are not kept, so that only `retain` removes blobs. */
  async sweep(): Promise<number> {
    return 0;
  }

  /** Drops all other blobs. @returns the kept ones by their key */
  retain(keys: ReadonlySet<string>): ReadonlyMap<string, Uint8Array> {
    for (const key of this.#blobs.keys()) if (!keys.has(key)) this.#blobs.delete(key);
    return this.#blobs;
  }
}
