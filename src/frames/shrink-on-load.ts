/**
 * A JPEG decoder can halve a picture while it decodes (a smaller inverse transform a block), for less than half of the time
 * of decoding all pixels and shrinking them. libvips offers that; sharp, its binding, uses it only from a factor of three on and has no option
 * for it, but hands file names through to libvips, which takes loader options behind a name. So the bytes get a file: one
 * whose name is gone before the first byte is written, so that nothing of a frame is left behind however this process ends.
 */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ShrunkJpeg {
  /** for sharp, until `close` */
  readonly input: string;
  close(): Promise<void>;
}

/**
 * @param factor 2, 4 or 8; sides that are no multiple of it are rounded up
 * @returns null where it does not work (no Linux, no place for temporary files): then all pixels have to be decoded
 */
export async function shrinkOnLoad(jpeg: Uint8Array, factor: number): Promise<ShrunkJpeg | null> {
  // A file without a name can be opened again only through Linux's /proc.
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
