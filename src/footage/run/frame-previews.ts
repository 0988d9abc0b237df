/**
 * Preview of the last examined frame of a running sequence. It is part of the checkpoint: without it the frame after a
 * resume would be examined, which the undisturbed run does not do.
 */
import type { Preview } from '../../base/images.js';
import type { PreviewStore } from '../../camera/fold/previews.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';

/**
 * Width and height of the preview and of its source, each as an unsigned integer of 32 bits, little endian. Luma and
 * the planes of colour follow.
 */
const HEADER_BYTES = 16;
const PREFIX = 'previews/';

export class FramePreviews implements PreviewStore {
  readonly #previews = new Map<string, Preview>();

  async load({ sha256 }: StoredFrameRef): Promise<Preview | null> {
    return this.#previews.get(sha256) ?? null;
  }

  keep({ sha256 }: StoredFrameRef, preview: Preview): void {
    // Frames are compared with the last examined one only. The decoder uses the memory of a preview for later ones.
    this.#previews.clear();
    const { luma, chroma } = preview;
    const copied = chroma === undefined ? {} : { chroma: { blue: chroma.blue.slice(), red: chroma.red.slice() } };
    this.#previews.set(sha256, { ...preview, luma: luma.slice(), ...copied });
  }

  /** @returns the previews as blobs, by key */
  *blobs(): Generator<[key: string, bytes: Uint8Array]> {
    for (const [sha256, { width, height, luma, chroma, source }] of this.#previews) {
      const header = Buffer.alloc(HEADER_BYTES);
      for (const [i, side] of [width, height, source.width, source.height].entries()) header.writeUInt32LE(side, 4 * i);
      yield [`${PREFIX}${sha256}`, Buffer.concat([header, luma, ...(chroma ? [chroma.blue, chroma.red] : [])])];
    }
  }

  /** @returns whether the blob is a preview; then it is taken over */
  restore(key: string, bytes: Uint8Array): boolean {
    if (!key.startsWith(PREFIX)) return false;
    const header = Buffer.from(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
    const [width, height, sourceWidth, sourceHeight] = [0, 4, 8, 12].map((at) => header.readUInt32LE(at)) as [
      ...[number, number],
      ...[number, number],
    ];
    const blueAt = HEADER_BYTES + width * height;
    const redAt = blueAt + Math.floor(width / 2) * Math.floor(height / 2);
    const luma = bytes.subarray(HEADER_BYTES, blueAt);
    // Previews of grey frames have no colours.
    const chroma = { blue: bytes.subarray(blueAt, redAt), red: bytes.subarray(redAt) };
    const coloured = bytes.length > blueAt ? { chroma } : {};
    const source = { width: sourceWidth, height: sourceHeight };
    this.#previews.set(key.slice(PREFIX.length), { width, height, luma, ...coloured, source });
    return true;
  }
}
