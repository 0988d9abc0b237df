/**
 * Cache of full-frame features, limited by size, least recently used out first. The "before" of a fixed camera comes
 * again with every comparison, and in mode `previous` the "after" of one comparison is the "before" of the next.
 */
import { LRUCache } from 'lru-cache';
import type { Size } from '../base/images.js';
import type { Features } from '../model/graph-io.js';

export class FeatureCache {
  readonly #onLookup: (hit: boolean) => void;
  /** undefined: nothing is kept */
  readonly #entries: LRUCache<string, Features> | undefined;

  /**
   * @param limit in bytes; 0 keeps nothing
   * @param onLookup is called per `get`, with whether it found an entry
   */
  constructor(limit: number, onLookup: (hit: boolean) => void = () => {}) {
    this.#onLookup = onLookup;
    // A maximum of 0 means "no limit" to the library.
    if (limit > 0) this.#entries = new LRUCache({ maxSize: limit, sizeCalculation: bytesOf });
  }

  get bytes(): number {
    return this.#entries?.calculatedSize ?? 0;
  }

  /** @param key of `featureKey` */
  get(key: string): Features | undefined {
    const features = this.#entries?.get(key);
    this.#onLookup(features !== undefined);
    return features;
  }

  set(key: string, features: Features): void {
    this.#entries?.set(key, features);
  }
}

/** The same bytes at the same size and the same weights give the same features. @param size of the pixels encoded */
export const featureKey = (frameSha256: string, { width, height }: Size, bundleSha256: string): string =>
  `${frameSha256} ${width}x${height} ${bundleSha256}`;

const bytesOf = ({ coarse, fine }: Features): number => coarse.byteLength + fine.byteLength;
