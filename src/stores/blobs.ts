/**
 * Bytes by key: frames by their content hash, heatmap data by comparison. Two implementations with one behaviour
 * (blobs-fs.ts, blobs-s3.ts). Keys are relative paths of [a-z0-9/._-].
 */
import { ScenedeltaError } from '../errors.js';

export interface BlobStore {
  /**
   * Durable once resolved (temp file, fdatasync, rename, directory fsync). Writing an existing key with the same name again is cheap and
   * refreshes its age.
   * @throws ScenedeltaError 'storage-unavailable' (disk full, no permission, S3 away).
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** @returns undefined where the key does not exist. */
  get(key: string): Promise<Uint8Array | undefined>;
  delete(key: string): Promise<void>;
  /** Deletes what under `prefix` was last written before `before` (epoch ms), except the keys in `keep`. @returns how many. */
  sweep(prefix: string, before: number, keep?: ReadonlySet<string>): Promise<number>;
}

export const frameKey = (sha256: string): string => `frames/${sha256.slice(0, 2)}/${sha256}`;
export const heatmapKey = (comparisonId: string): string =>
  `heatmaps/${comparisonId.slice(-2)}/${comparisonId}.maps`;

/**
 * @returns the key.
 * @throws ScenedeltaError 'internal' where it could leave the store's folder: keys are made by us, never taken from a request.
 */
export function checkBlobKey(key: string): string {
  if (/^[a-z0-9][a-z0-9_-]*([/.][a-z0-9_-]+)*$/.test(key)) return key;
  throw new ScenedeltaError(
    'internal',
    `blob key ${JSON.stringify(key)}: expected a relative path of [a-z0-9/._-]`,
  );
}
