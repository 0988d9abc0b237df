/**
 * Uploaded and downloaded recordings, as files in the data folder: ffmpeg reads files. Workers on other machines need
 * the same folder, or inputs on S3.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ScenedeltaError } from '../../base/errors.js';

export type BatchFiles = ReturnType<typeof createBatchFiles>;

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** Bytes that stay free on the disk, so that a large upload does not stop the service. */
const RESERVE = 512 * 1024 * 1024;

/** @param dataDir the folder DATA_DIR */
export function createBatchFiles(dataDir: string) {
  const folderOf = (batch: string) => join(dataDir, 'batches', batch);
  const uploadOf = (batch: string, number: number) => join(folderOf(batch), `upload-${number}`);

  const save = async (
    path: string,
    stream: Readable,
    { maxBytes, what }: { maxBytes: number; what: string },
    onBytes: (bytes: Buffer) => void = () => {},
  ): Promise<void> => {
    const folder = join(path, '..');
    try {
      await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
      const { bavail, bsize } = await statfs(folder);
      const room = bavail * bsize - RESERVE;
      let length = 0;
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          length += chunk.byteLength;
          if (length > maxBytes) done(tooLarge(what, maxBytes));
          else if (length > room) done(noRoom(what));
          else {
            onBytes(chunk);
            done(null, chunk);
          }
        },
      });
      await pipeline(stream, counted, createWriteStream(path, { mode: PRIVATE_FILE, flush: true }));
    } catch (thrown) {
      await rm(path, { force: true });
      if (thrown instanceof ScenedeltaError) throw thrown;
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') throw noRoom(what);
      throw thrown;
    }
  };

  return {
    /** holds the uploads and copies of a batch; created when it is needed */
    folderOf,
    uploadOf,
    /**
     * @returns the SHA-256 of the upload, in hexadecimal
     * @throws ScenedeltaError 'payload-too-large', 'storage-unavailable' if the disk is nearly full
     */
    saveUpload: async (
      batch: string,
      number: number,
      stream: Readable,
      limits: { maxBytes: number; what: string },
    ): Promise<string> => {
      const hash = createHash('sha256');
      await save(uploadOf(batch, number), stream, limits, (bytes) => hash.update(bytes));
      return hash.digest('hex');
    },
    /** New path for a downloaded copy: two workers that hold one camera for a moment never share a file. */
    copyOf: (batch: string) => join(folderOf(batch), randomUUID()),
    /** @throws ScenedeltaError as saveUpload does */
    saveCopy: save,
    removeCopy: (path: string) => rm(path, { force: true }),
    /** Removes the copies that killed workers have left. */
    removeCopies: async (batch: string): Promise<void> => {
      for (const name of await namesIn(folderOf(batch))) {
        if (!name.startsWith('upload-')) await rm(join(folderOf(batch), name), { force: true });
      }
    },
    /** @returns ids of batches with a folder that was created or altered before `before` (epoch ms) */
    olderThan: async (before: number): Promise<string[]> => {
      const old: string[] = [];
      for (const id of await namesIn(join(dataDir, 'batches'))) {
        const found = await stat(folderOf(id)).catch(() => undefined);
        if (found !== undefined && found.mtimeMs < before) old.push(id);
      }
      return old;
    },
    erase: (batch: string) => rm(folderOf(batch), { recursive: true, force: true }),
  };
}

/** @returns the names in a folder; none if it does not exist */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}

const tooLarge = (what: string, maxBytes: number) =>
  new ScenedeltaError('payload-too-large', `${what} has more than ${maxBytes} bytes (FOOTAGE_LIMIT)`);
const noRoom = (what: string) =>
  new ScenedeltaError('storage-unavailable', `${what} does not fit on the disk of the data folder`);
