/** Blob store of objects in one S3 bucket, for several hosts that share no disk. */
import { type BlobStore, checkBlobKey } from '../../base/blobs.js';
import { ScenedeltaError } from '../../base/errors.js';
import type { S3Client } from './s3-client.js';

const DELETES_AT_ONCE = 16;

export function createS3BlobStore(s3: S3Client, bucket: string): BlobStore {
  return {
    // S3 has no cheaper way to refresh the age of an object than to write it again.
    put: (key, bytes) => ofStore(() => s3.put(bucket, checkBlobKey(key), bytes)),
    get: (key) => ofStore(() => s3.get(bucket, checkBlobKey(key))),
    delete: (key, before) =>
      ofStore(async () => {
        if (before === undefined) return s3.delete(bucket, checkBlobKey(key));
        for await (const object of s3.list(bucket, checkBlobKey(key))) {
          if (object.key === key && object.lastModified < before) await s3.delete(bucket, key);
        }
      }),
    sweep: (prefix, before, keep) =>
      ofStore(async () => {
        let swept = 0;
        let batch: string[] = [];
        const deleteBatch = async () => {
          await Promise.all(batch.map((key) => s3.delete(bucket, key)));
          swept += batch.length;
          batch = [];
        };
        for await (const object of s3.list(bucket, `${prefix.replace(/\/$/, '')}/`)) {
          if (object.lastModified < before && !keep?.has(object.key)) batch.push(object.key);
          if (batch.length === DELETES_AT_ONCE) await deleteBatch();
        }
        await deleteBatch();
        return swept;
      }),
  };
}

/** The bucket is the service's own: no client, frame or job can be blamed for what it refuses. */
async function ofStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError) || thrown.code === 'internal') throw thrown;
    throw new ScenedeltaError('storage-unavailable', `S3_FRAME_BUCKET: ${thrown.message}`, { cause: thrown });
  }
}
