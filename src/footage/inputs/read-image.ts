/** Bytes of an image file, within the limit of frames. */
import { readFile, stat } from 'node:fs/promises';
import { ScenedeltaError } from '../../base/errors.js';

/**
 * @param limit bytes
 * @param file its name in messages; absent: the caller names it
 * @throws ScenedeltaError 'payload-too-large', 'not-found'
 */
export async function readImage(path: string, limit: number, file?: string): Promise<Uint8Array> {
  const subject = file === undefined ? '' : `${file} `;
  try {
    const { size } = await stat(path);
    if (size > limit) {
      const detail = `${subject}has ${size} bytes, expected at most ${limit} (FRAME_LIMIT)`;
      throw new ScenedeltaError('payload-too-large', detail);
    }
    return await readFile(path);
  } catch (thrown) {
    return throwUnreadable(subject)(thrown);
  }
}

/**
 * For a file that may have been removed since it was listed.
 * @param subject its name and a space; empty: the caller names it
 * @throws ScenedeltaError the thrown one, or 'not-found'
 */
export const throwUnreadable =
  (subject: string) =>
  (thrown: unknown): never => {
    if (thrown instanceof ScenedeltaError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `${subject}cannot be read (${code})`, { cause: thrown });
  };
