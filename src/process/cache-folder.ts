/** The folder in which commands and the library keep optimised graphs. */
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * @param dataDir DATA_DIR, which belongs to the service: it is used if it is there and never created
 * @returns DATA_DIR, or else the user's cache folder (XDG Base Directory Specification)
 */
export async function cacheFolder(dataDir?: string): Promise<string> {
  const exists =
    dataDir !== undefined &&
    (await access(dataDir).then(
      () => true,
      () => false,
    ));
  if (exists) return dataDir;
  const folder = join(homedir(), '.cache/scenedelta');
  // Without a home the graphs are optimised at each start, which takes seconds and nothing else.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
  return folder;
}
