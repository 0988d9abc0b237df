/** Files of the clients: read with a failure of one line, written completely or not at all. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Failure, usage } from './failure.js';

/** @throws Failure 'usage' naming the file */
export const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`${file}: cannot be read (${error.code})`, error);
  });

/**
 * Writes under a temporary name, then renames.
 * @throws Failure naming the file: 'unavailable' if the disk is full, else 'usage'
 */
export async function writeAtOnce(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(unfinished, content);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw cannotBeWritten(file, error as NodeJS.ErrnoException);
  }
}

/** Creates a folder and those above it. @throws Failure 'usage' naming the folder */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw cannotBeWritten(folder, error);
  });
}

function cannotBeWritten(path: string, error: NodeJS.ErrnoException): Failure {
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  const reason = isFull ? `: the disk is full (${error.code})` : ` (${error.code ?? error.message})`;
  return new Failure(isFull ? 'unavailable' : 'usage', `${path}: cannot be written${reason}`, { cause: error });
}
