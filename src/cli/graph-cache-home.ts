/** Folder in which a command keeps optimised graphs between its runs. */
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * @param dataDir DATA_DIR, which belongs to the service: a command uses it if it is there and never creates it
 * @returns DATA_DIR, or else the user's cache folder (XDG Base Directory Specification)
 */
export async function graphCacheHome(dataDir: string): Promise<string> {
  const exists = await access(dataDir).then(
    () => true,
    () => false,
  );
  if (exists) return dataDir;
  const folder = join(homedir(), '.cache/scenedelta');
  // Without a home the graphs are optimised anew, which takes seconds and nothing else.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
  return folder;
}
