/** Outputs of a recording as files in a folder; each file is written completely or not at all. */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { outputFiles } from '../../footage/outputs/files.js';
import type { Recording } from '../../footage/outputs/recording.js';
import { makeFolder, writeAtOnce } from '../write-at-once.js';

/**
 * @param folder is created if it is missing; the pictures that the records name are read from it
 * @returns the names of the files, relative to the folder
 * @throws ScenedeltaError 'invalid-request' naming a file that cannot be written
 */
export async function writeOutputs(folder: string, recording: Recording): Promise<string[]> {
  const readPicture = async (path: string): Promise<Uint8Array | null> => {
    const file = resolve(folder, path);
    // The records may come from another machine: they name nothing outside of their folder.
    if (relative(folder, file).startsWith('..')) return null;
    return readFile(file).catch(() => null);
  };
  const files = outputFiles(recording, { readPicture });
  for (const { name, content } of files) {
    const path = join(folder, name);
    await makeFolder(dirname(path));
    await writeAtOnce(path, content());
  }
  return files.map(({ name }) => name);
}
