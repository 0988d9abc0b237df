/**
 * JPEG decoding at a reduced size. A JPEG decoder can halve an image while it decodes, with a smaller inverse transform
 * per block. That takes less than half of the time of decoding all pixels and shrinking them.
 *
 * libvips offers this as a loader option, which may follow a file name. sharp, its binding, has no such option and uses
 * the method only from a factor of three on, but it passes file names on to libvips. Therefore the bytes are written to
 * a temporary file. The file is unlinked before its first byte is written, so that no part of a frame stays on disk,
 * however this process ends.
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
