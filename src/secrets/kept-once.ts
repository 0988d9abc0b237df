/** Texts that the service makes once and keeps in a file: secrets and keys. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ScenedeltaError } from '../base/errors.js';

/**
 * Several processes may start at the same moment; the one that creates the file first determines the text.
 * @param of the text, for the message
 * @returns the text of the file, which only its owner may read
 * @throws ScenedeltaError 'storage-unavailable' if the file can be neither read nor made
 */
export async function keptOnce(file: string, make: () => string, of: string): Promise<string> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept === undefined) await createOnce(file, make());
    return (kept ?? (await readFile(file, 'utf8'))).trim();
  } catch (cause) {
    throw new ScenedeltaError('storage-unavailable', `${file}: ${of} cannot be kept there`, { cause });
  }
}

/**
 * Writes a temporary file and links it, so that no reader sees half a text and a second writer keeps the first one.
 */
async function createOnce(file: string, text: string): Promise<void> {
  const aside = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.datasync();
    await link(aside, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    await handle.close();
    await rm(aside, { force: true });
  }
}
