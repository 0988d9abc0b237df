/**
 * Features of whole frames, least recently used out first. A fixed camera's "before" comes again and again, and with the
 * previous frame as "before", today's "after" is the next comparison's "before".
 */
import type { Features } from '../model/captioner.js';

export class FeatureCache {
  readonly #limit: number;
  readonly #onLookup: (hit: boolean) => void;
  /** the order of insertion is the order of use */
  readonly #entries = new Map<string, Features>();
  #bytes = 0;

  /**
   * @param limit in bytes; 0 keeps nothing
   * @param onLookup told of every `get` whether it found something
   */
  constructor(limit: number, onLookup: (hit: boolean) => void = () => {}) {
    this.#limit = limit;
    this.#onLookup = onLookup;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @param key of `featureKey` */
  get(key: string): Features | undefined {
    const features = this.#entries.get(key);
    this.#onLookup(features !== undefined);
    if (features !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, features);
    }
    return features;
  }

  set(key: string, features: Features): void {
    const known = this.#entries.get(key);
    if (known !== undefined) this.#bytes -= bytesOf(known);
    this.#entries.delete(key);
    if (bytesOf(features) > this.#limit) return;
    this.#entries.set(key, features);
    this.#bytes += bytesOf(features);
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#limit) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytesOf(entry);
    }
  }
}

/** Same bytes and same weights give the same features. */
export const featureKey = (frameSha256: string, bundleSha256: string): string =>
  `${frameSha256} ${bundleSha256} whole`;

const bytesOf = ({ coarse, fine }: Features): number => coarse.byteLength + fine.byteLength;
