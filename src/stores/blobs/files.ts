/** Blob store of files. An acknowledged `put` survives a power cut, and readers never see half a file. */
import { chmod, type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink, utimes } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { BlobStore } from '../../base/blobs.js';
import { checkBlobKey } from '../../base/blobs.js';
import { systemClock } from '../../base/clock.js';
import { ScenedeltaError } from '../../base/errors.js';

/** Frames show what cameras see: only the service's own user reads them. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * `put` writes a temporary file, syncs it, renames it, and syncs the folder.
 * @param folder is created if it does not exist
 * @param options.writeTo replaces the write to the disk, so that tests can let it fail
 */
export function createFileBlobStore(
  folder: string,
  options: { writeTo?: (file: FileHandle, bytes: Uint8Array) => Promise<void> } = {},
): BlobStore {
  const writeTo = options.writeTo ?? ((file, bytes) => file.writeFile(bytes));
  const root = resolve(folder);
  const pathOf = (key: string) => join(root, checkBlobKey(key));
  const knownFolders = new Set<string>();
  let counter = 0;

  const makeFolder = async (path: string): Promise<void> => {
    if (knownFolders.has(path)) return;
    const firstMade = await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
    // A folder that exists already may be readable by every local user; closing the root closes all below it.
    if (knownFolders.size === 0) await chmod(root, PRIVATE_FOLDER);
    // A new folder is durable once its parent folder has been synced.
    if (firstMade !== undefined) {
      for (let at = path; at.length >= firstMade.length; at = dirname(at)) await syncFolder(dirname(at));
    }
    knownFolders.add(path);
  };

  const write = async (path: string, bytes: Uint8Array): Promise<void> => {
    const temporary = `${path}.${process.pid}-${++counter}.tmp`;
    try {
      await makeFolder(dirname(path));
      const file = await open(temporary, 'wx', PRIVATE_FILE);
      try {
        await writeTo(file, bytes);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
    } catch (thrown) {
      knownFolders.delete(dirname(path));
      await unlink(temporary).catch(() => {});
      throw thrown;
    }
  };

  return {
    put: (key, bytes) =>
      storageCall('writing', async () => {
        const path = pathOf(key);
        const now = new Date(systemClock());
        const kept = await missingIsUndefined(stat(path));
        if (kept?.size === bytes.byteLength && (await touched(path, now))) {
          // Another process may have renamed the file without having synced the folder yet.
          await syncFolder(dirname(path));
          return;
        }
        await write(path, bytes);
      }),
    get: (key) => storageCall('reading', () => missingIsUndefined(readFile(pathOf(key)))),
    delete: (key, before) =>
      storageCall('deleting', async () => {
        if (before === undefined) await missingIsUndefined(unlink(pathOf(key)));
        else await sweepFile(pathOf(key), before);
      }),
    sweep: (prefix, before, keep) =>
      storageCall('sweeping', async () => {
        const start = pathOf(prefix.replace(/\/$/, ''));
        let swept = 0;
        const pending = [start];
        for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
          for (const entry of (await missingIsUndefined(readdir(at, { withFileTypes: true }))) ?? []) {
            const path = join(at, entry.name);
            if (entry.isDirectory()) pending.push(path);
            else if (!keep?.has(relative(root, path)) && (await sweepFile(path, before))) swept++;
          }
        }
        return swept;
      }),
  };
}

/**
 * Deletes an old file in two steps: it is moved aside, its age is read again, and it is moved back if a `put` refreshed
 * it in between. Deleting it at once could lose a frame that has just been acknowledged.
 */
async function sweepFile(path: string, before: number): Promise<boolean> {
  const isOld = async (at: string) => {
    const found = await missingIsUndefined(stat(at));
    return found !== undefined && found.mtimeMs < before;
  };
  if (!(await isOld(path))) return false;
  const aside = `${path}.swept`;
  await missingIsUndefined(rename(path, aside));
  if (!(await isOld(aside))) {
    await missingIsUndefined(rename(aside, path));
    return false;
  }
  await missingIsUndefined(unlink(aside));
  return true;
}

const touched = async (path: string, now: Date): Promise<boolean> =>
  (await missingIsUndefined(utimes(path, now, now).then(() => true))) ?? false;

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const errnoOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : undefined;

async function missingIsUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/**
 * @throws ScenedeltaError 'storage-unavailable' for any refusal of the file system; the message does not name the path.
 */
async function storageCall<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    const code = errnoOf(thrown);
    if (thrown instanceof ScenedeltaError || code === undefined) throw thrown;
    const reason = code === 'ENOSPC' || code === 'EDQUOT' ? `the disk is full (${code})` : code;
    throw new ScenedeltaError('storage-unavailable', `${what} in the data folder failed: ${reason}`, { cause: thrown });
  }
}
