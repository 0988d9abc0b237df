/** Files of a run's results, when it has ended; each file is written completely or not at all. */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { outputFiles } from '../../footage/outputs/files.js';
import { exactNdjson } from '../../footage/outputs/json.js';
import type { Recording } from '../../footage/outputs/recording.js';
import type { FootageChange } from '../../footage/records.js';
import { type FinishedRun, gatherResults, statsOf } from '../../footage/results.js';
import { makeFolder, writeAtOnce } from '../write-at-once.js';

/**
 * @param clip writes the clip of a change, and returns its path relative to `outputs`; null if there is none
 * @throws ScenedeltaError 'invalid-request' or 'storage-unavailable' naming the file that cannot be written
 */
export async function writeResults(
  outputs: string,
  run: FinishedRun,
  clip?: (change: FootageChange) => Promise<string | null>,
): Promise<Recording> {
  const gathered = await gatherResults(run);
  const recording = clip === undefined ? gathered : { ...gathered, changes: await withClips(gathered.changes, clip) };
  await writeOutputs(outputs, recording);
  await writeAtOnce(join(outputs, 'stats.ndjson'), exactNdjson(statsOf(run)));
  return recording;
}

async function withClips(
  changes: readonly FootageChange[],
  write: (change: FootageChange) => Promise<string | null>,
): Promise<FootageChange[]> {
  const clipped: FootageChange[] = [];
  for (const change of changes) {
    const clip = await write(change);
    clipped.push(clip === null ? change : { ...change, clip });
  }
  return clipped;
}

/**
 * @param folder is created if it is missing; the pictures that the records name are read from it
 * @returns the names of the files, relative to the folder
 * @throws ScenedeltaError 'invalid-request' naming a file that cannot be written
 */
async function writeOutputs(folder: string, recording: Recording): Promise<string[]> {
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
