/** Local copies of files: ffmpeg and the decoder of pictures read the data folder alone. */
import { setTimeout } from 'node:timers/promises';
import { ScenedeltaError, urlFailed } from '../base/errors.js';
import { localFiles } from '../footage/inputs/local-files.js';
import type { Materialize } from '../footage/inputs/recording.js';
import type { OutboundClient } from '../outbound/client.js';
import type { BatchFiles } from '../stores/batches/batch-files.js';
import type { S3Client } from '../stores/blobs/s3-client.js';

export interface MaterializeDependencies {
  readonly files: Pick<BatchFiles, 'folderOf' | 'copyOf' | 'saveCopy' | 'removeCopy'>;
  readonly s3: S3Client | undefined;
  readonly outbound: Pick<OutboundClient, 'download'>;
  /** bytes */
  readonly footageLimit: number;
}

/** Waits between the tries of an address. */
const RETRY_MS = [1_000, 5_000] as const;

/** Objects and addresses are copied while they are read, one at a time per camera. */
export function createMaterialize(
  batch: string,
  { files, s3, outbound, footageLimit }: MaterializeDependencies,
): Materialize {
  const others = localFiles(files.folderOf(batch), s3);
  const copy = async ({ file, url }: { file: string; url: string }, signal: AbortSignal) => {
    const path = files.copyOf(batch);
    const limits = { maxBytes: footageLimit, what: file };
    await severalTimes(async () => {
      const stream = await outbound.download(url, { ...limits, field: file, signal });
      await files.saveCopy(path, stream, limits);
    }, signal);
    return { path, release: () => files.removeCopy(path) };
  };
  return async (item, signal) => {
    const { file, location } = item;
    try {
      return await (location.from === 'url' ? copy({ file, url: location.url }, signal) : others(item, signal));
    } catch (thrown) {
      // One address or object is refused: the others are processed.
      const refused = thrown instanceof ScenedeltaError && thrown.code === 'url-refused';
      throw refused ? new ScenedeltaError('url-failed', thrown.message, { cause: thrown }) : thrown;
    }
  };
}

/**
 * One host that is away must not stop the batch: after several tries its files are failures.
 * @throws ScenedeltaError 'url-failed' instead of the last 'url-unavailable'
 */
export async function severalTimes<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  [wait, ...waits]: readonly number[] = RETRY_MS,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError) || thrown.code !== 'url-unavailable') throw thrown;
    if (wait === undefined) throw urlFailed(`${thrown.message}, in ${RETRY_MS.length + 1} tries`);
  }
  await setTimeout(wait, undefined, { signal });
  return severalTimes(work, signal, waits);
}
