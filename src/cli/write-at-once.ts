/** Atomic file output: a command writes a file completely or not at all, and a failure is one line for a person. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';

/** A whole text or file, or a text in parts. */
type Content = string | Uint8Array | Iterable<string> | AsyncIterable<string>;

/**
 * Writes under a temporary name, then renames.
 * @throws ScenedeltaError naming the file: 'storage-unavailable' if the disk is full, else 'invalid-request'
 */
export async function writeAtOnce(file: string, content: Content): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    // Not through a stream: one that is destroyed while its file is being opened creates it after the removal below.
    await writeFile(unfinished, content);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw cannotBeWritten(file, error);
  }
}

/**
 * Checks a path for output before the work for it begins.
 * @param extensions lower case, with the dot
 * @throws ScenedeltaError 'invalid-request' naming the file and what was expected
 */
export async function assertWritable(file: string, extensions: readonly string[]): Promise<void> {
  if (!extensions.includes(extname(file).toLowerCase())) {
    throw invalidRequest(`${file}: expected a name that ends in ${extensions.join(', ')}`);
  }
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    throw cannotBeWritten(file, error);
  });
}

/** Creates a folder and those above it. @throws ScenedeltaError 'invalid-request' naming the folder */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw cannotBeWritten(folder, error);
  });
}

function cannotBeWritten(path: string, error: unknown): ScenedeltaError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const reason = `${path}: cannot be written: the disk is full (${code})`;
    return new ScenedeltaError('storage-unavailable', reason, { cause: error });
  }
  return new ScenedeltaError('invalid-request', `${path}: cannot be written (${code ?? message})`, { cause: error });
}
