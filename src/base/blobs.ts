/**
 * Blob store: bytes by key. Frames have their content hash as key, heatmaps the id of their comparison.
 * The two implementations behave alike: files and S3 objects (src/stores/blobs).
 */
import { ScenedeltaError } from './errors.js';

export interface BlobStore {
  /**
   * Durable once resolved. Writing the same bytes to an existing key again refreshes its age.
   * @param key a relative path of [a-z0-9/._-]
   * @throws ScenedeltaError 'storage-unavailable' (disk full, no permission, S3 unreachable).
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** @returns undefined if the key does not exist. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** @param before deletes only what was last written before this time (epoch ms); absent: whatever its age */
  delete(key: string, before?: number): Promise<void>;
  /** Deletes the blobs under `prefix` last written before `before` (epoch ms), except `keep`. @returns how many. */
  sweep(prefix: string, before: number, keep?: ReadonlySet<string>): Promise<number>;
}

export const frameKey = (sha256: string): string => `frames/${sha256.slice(0, 2)}/${sha256}`;
export const heatmapKey = (comparisonId: string): string => `heatmaps/${comparisonId.slice(-2)}/${comparisonId}.maps`;

/**
 * @returns the key.
 * @throws ScenedeltaError 'internal' if the key could leave the store's folder. Keys never come from a request.
 */
export function checkBlobKey(key: string): string {
  if (/^[a-z0-9][a-z0-9_-]*([/.][a-z0-9_-]+)*$/.test(key)) return key;
  throw new ScenedeltaError('internal', `blob key ${JSON.stringify(key)}: expected a relative path of [a-z0-9/._-]`);
}
