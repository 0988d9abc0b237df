/**
 * JPEG decoding at a reduced size. A JPEG decoder can halve an image while it decodes, with a smaller inverse transform
 * per block, for less than half of the time of decoding all pixels and shrinking them. libvips offers this; sharp, its
 * binding, uses it only from a factor of three on and has no option for it, but passes file names on to libvips, which
 * reads loader options after a name. So the bytes are written to a file that is unlinked before the first byte is
 * written: nothing of a frame stays on disk, however this process ends.
 */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface ShrunkJpeg {
  /** file name with loader options, valid until `close` */
  readonly input: string;
  close(): Promise<void>;
}

/**
 * @param factor 2, 4 or 8; a side that is no multiple of it is rounded up
 * @returns null if the system does not allow it (not Linux, no temporary files): the caller then decodes all pixels
 */
export async function shrinkOnLoad(jpeg: Uint8Array, factor: number): Promise<ShrunkJpeg | null> {
  // An unlinked file can be opened again only through Linux's /proc.
  if (process.platform !== 'linux') return null;
  const path = join(tmpdir(), `scenedelta-${randomUUID()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await unlink(path);
      await file.writeFile(jpeg);
    } catch (error) {
      await file.close();
      throw error;
    }
    return { input: `/proc/self/fd/${file.fd}[shrink=${factor}]`, close: () => file.close() };
  } catch {
    return null;
  }
}
