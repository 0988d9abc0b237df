/**
 * Format of the records and store of the frames, which all processes on one Redis share. The API writes a mark
 * into its store of frames and names it in Redis; a worker that does not find the mark reads other frames.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../../base/blobs.js';
import { invalidRequest, isStoreRefusal } from '../../base/errors.js';
import { VERSION } from '../../base/version.js';
import { KEYS } from './keys.js';
import { redisCall } from './redis.js';

/** Is raised by a version whose records another one cannot read. */
const FORMAT = 3;

const AGAIN_MS = 2_000;

const markKey = (mark: string): string => `marks/${mark}`;

export function createDeployment(redis: Redis, blobs: Pick<BlobStore, 'get' | 'put'>, format = FORMAT) {
  const read = async (): Promise<string | null> => {
    const [mark, written, by] = await redis.hmget(KEYS.deployment, 'mark', 'format', 'version');
    if (written != null && Number(written) !== format) {
      const expected = `version ${VERSION} reads format ${format}`;
      const mend = `install ${by}, or start with an empty Redis and an empty DATA_DIR`;
      throw invalidRequest(`Redis has records of version ${by} (format ${written}); ${expected}: ${mend}`);
    }
    return mark ?? null;
  };
  const announce = (): Promise<void> =>
    redisCall('announcing the API', async () => {
      const mark = (await read()) ?? randomBytes(12).toString('hex');
      await blobs.put(markKey(mark), Buffer.from(mark));
      await redis.hset(KEYS.deployment, { mark, format, version: VERSION });
    });
  const seesFrames = (): Promise<boolean> =>
    redisCall('reading the deployment', async () => {
      const mark = await read();
      return mark === null || (await blobs.get(markKey(mark))) !== undefined;
    });
  return {
    /**
     * Names the format of this version and its store of frames, as soon as Redis and the store take it.
     * @throws ScenedeltaError 'invalid-request' if a version with another format has written the records
     */
    async announce(): Promise<void> {
      while (!(await unlessRefused(announce().then(() => true)))) await pause(AGAIN_MS, undefined, { ref: false });
    },
    /**
     * @param onMissing is called once if the frames of the API are not in this store
     * @returns when they are, if no API has started yet, and if the store cannot be reached, which is another fault
     * @throws ScenedeltaError as `announce`
     */
    async untilVisible(onMissing: () => void): Promise<void> {
      for (let isSaid = false; (await unlessRefused(seesFrames())) === false; isSaid = true) {
        if (!isSaid) onMissing();
        await pause(AGAIN_MS);
      }
    },
  };
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (thrown) {
    if (isStoreRefusal(thrown)) return undefined;
    throw thrown;
  }
}
