/**
 * Rules for the buckets that clients may name in s3:// frames. The credentials are the operator's: without these rules
 * every client could read every bucket that the credentials can read.
 */
import { ScenedeltaError } from '../../base/errors.js';
import type { Config } from '../../process/config.js';
import type { S3Client } from './s3-client.js';

export type SourceRules = Pick<Config, 's3FrameBucket' | 's3SourceBuckets'>;

/** @returns null if the bucket's objects may be frames, else the reason against it. */
export function checkSourceBucket(bucket: string, rules: SourceRules): string | null {
  const { s3FrameBucket, s3SourceBuckets } = rules;
  // It holds unmasked frames, also of cameras that have privacy zones now or were erased.
  if (bucket === s3FrameBucket) return "is the service's own bucket, expected another one";
  if (s3SourceBuckets.length === 0 || s3SourceBuckets.includes(bucket)) return null;
  return 'is not a bucket that frames may come from (S3_SOURCE_BUCKETS)';
}

/** @returns a client that refuses to read and list other buckets with 'url-refused'. */
export const sourcesOnly = (s3: S3Client, rules: SourceRules): S3Client => ({
  ...s3,
  async get(bucket, key, options) {
    assertSource(bucket, key, rules);
    return s3.get(bucket, key, options);
  },
  async getPart(bucket, key, part) {
    assertSource(bucket, key, rules);
    return s3.getPart(bucket, key, part);
  },
  async *list(bucket, prefix) {
    assertSource(bucket, prefix, rules);
    yield* s3.list(bucket, prefix);
  },
});

function assertSource(bucket: string, key: string, rules: SourceRules): void {
  const refusal = checkSourceBucket(bucket, rules);
  if (refusal !== null) throw new ScenedeltaError('url-refused', `s3://${bucket}/${key}: ${bucket} ${refusal}`);
}
