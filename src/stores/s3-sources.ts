/**
 * Which buckets callers may name in s3:// frames. The credentials are the operator's, so without these rules everybody with a key could
 * read whatever they can read.
 */
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import type { S3Client } from './s3-client.js';

export type SourceRules = Pick<Config, 's3FrameBucket' | 's3SourceBuckets'>;

/** @returns null where its objects may be frames, else why not. */
export function checkSourceBucket(bucket: string, rules: SourceRules): string | null {
  const { s3FrameBucket, s3SourceBuckets } = rules;
  // frames as they came lie there, also those whose camera has privacy zones or was erased
  if (bucket === s3FrameBucket) return "is the service's own bucket, expected another one";
  if (s3SourceBuckets.length === 0 || s3SourceBuckets.includes(bucket)) return null;
  return 'is not a bucket that frames may come from (S3_SOURCE_BUCKETS)';
}

/** The client as it may be given what a caller chose: reads from other buckets are 'url-refused'. */
export const sourcesOnly = (s3: S3Client, rules: SourceRules): S3Client => ({
  ...s3,
  async get(bucket, key, options) {
    const refusal = checkSourceBucket(bucket, rules);
    if (refusal !== null)
      throw new ScenedeltaError('url-refused', `s3://${bucket}/${key}: ${bucket} ${refusal}`);
    return s3.get(bucket, key, options);
  },
});
