/** Items as local files: ffmpeg reads no network, so that objects of S3 are copied to a folder while they are read. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { urlFailed } from '../../base/errors.js';
import type { S3Client } from '../../stores/blobs/s3-client.js';
import type { Materialize } from './recording.js';

/** Bytes per request: a part arrives well within OUTBOUND_TIMEOUT_MS on a slow line. */
const PART = 8 * 1024 * 1024;

/** @param folder of the copies; is created when it is needed */
export const localFiles =
  (folder: string, s3: S3Client | undefined): Materialize =>
  async ({ location, file }, signal) => {
    if (location.from === 'file') return { path: location.path, release: async () => {} };
    if (location.from === 'url') throw urlFailed(`${file}: expected a file or s3://`);
    if (s3 === undefined) throw urlFailed(`${file}: expected S3_ENDPOINT to be set`);
    await mkdir(folder, { recursive: true });
    const path = join(folder, randomUUID());
    const release = () => rm(path, { force: true });
    try {
      await copy(s3, location, path, signal);
      return { path, release };
    } catch (thrown) {
      await release();
      throw thrown;
    }
  };

async function copy(
  s3: S3Client,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for (let from = 0, size = Number.POSITIVE_INFINITY; from < size; ) {
      const part = await s3.getPart(bucket, key, { from, length: PART, signal });
      if (part === undefined) throw urlFailed(`s3://${bucket}/${key} does not exist`);
      if (part.bytes.length === 0) {
        throw urlFailed(`s3://${bucket}/${key} ends at ${from} of ${size} bytes`);
      }
      await file.write(part.bytes);
      from += part.bytes.length;
      size = part.size;
    }
  } finally {
    await file.close();
  }
}
