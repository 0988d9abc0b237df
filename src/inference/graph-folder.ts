/** The folder of optimised graphs (graph-cache.ts), which threads read and write. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = 'graphs';

/** @returns the folder in `dataDir`; null if there is no `dataDir`, which a read-only command must not create */
export async function graphCacheIn(dataDir: string): Promise<string | null> {
  const folder = join(dataDir, FOLDER);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return null;
  }
  return folder;
}
