/** Which files of a list exist. */
import { access, constants } from 'node:fs/promises';
import { resolve } from 'node:path';
import pLimit from 'p-limit';

const AT_ONCE = 64;

/** @param paths absolute, or relative to `folder`. @returns those that can be read, as they are given */
export async function existingPaths(folder: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const limit = pLimit(AT_ONCE);
  const found = await limit.map([...new Set(paths)], (path) =>
    access(resolve(folder, path), constants.R_OK).then(
      () => [path],
      () => [],
    ),
  );
  return new Set(found.flat());
}
