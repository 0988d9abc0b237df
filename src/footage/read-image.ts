/** Bytes of an image file, within the limit of frames. */
import { readFile, stat } from 'node:fs/promises';
import { ScenedeltaError } from '../errors.js';

/** @param limit bytes @throws ScenedeltaError 'payload-too-large', 'not-found' */
export async function readImage(path: string, limit: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > limit) {
      throw new ScenedeltaError('payload-too-large', `has ${size} bytes, expected at most ${limit} (FRAME_LIMIT)`);
    }
    return await readFile(path);
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `cannot be read (${code})`, { cause: thrown });
  }
}
