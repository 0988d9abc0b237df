/** Whether the file system of a folder takes further files. */
import { statfs as readFileSystem } from 'node:fs/promises';

/** Free space below which the embedded Redis refuses writes too (scripts/lib/disk-guard.mjs). */
const LEAST_BYTES = 16 * 1024 * 1024;
/** A write needs a temporary file, and the folders above it. */
const LEAST_FILES = 16;

/** space: no bytes are free. inodes: bytes are, but no file can be created. */
export type DiskShortage = 'space' | 'inodes';

type FileSystem = Record<'bavail' | 'bsize' | 'files' | 'ffree', number>;

/**
 * @param statfs replaces the reading of the file system in tests
 * @returns null if there is room, or if the file system cannot be read
 */
export async function diskShortage(
  folder: string,
  statfs: (folder: string) => Promise<FileSystem> = readFileSystem,
): Promise<DiskShortage | null> {
  const found = await statfs(folder).catch(() => null);
  if (found === null) return null;
  if (found.bavail * found.bsize < LEAST_BYTES) return 'space';
  // File systems that make inodes as they need them, such as Btrfs, state 0 of 0.
  return found.files > 0 && found.ffree < LEAST_FILES ? 'inodes' : null;
}

const SHORTAGES: Readonly<Record<DiskShortage, string>> = {
  space: 'The disk of the data folder is full: nothing is stored until there is space',
  inodes: 'The disk of the data folder has no inodes left, so no file can be created: nothing is stored until it has',
};

/** @returns a sentence for people */
export const shortageText = (shortage: DiskShortage): string => SHORTAGES[shortage];
