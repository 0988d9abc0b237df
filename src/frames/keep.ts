/** Frames on their way into the store: what a camera's owner does not want to be seen is painted over before a byte is written. */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import type { Config } from '../config.js';
import type { FrameRef } from '../schemas/frame-ref.js';
import { type BlobStore, frameKey } from '../stores/blobs.js';
import type { PrivacyMask } from '../stores/cameras.js';
import { maskFrame } from './privacy-mask.js';

/** Frames decoded at a time; others wait, so that many at once do not fill the memory. */
const AT_ONCE = 2;

export interface IncomingBytes {
  readonly from: 'bytes';
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly contentType: string;
}

/** A frame as it came: bytes that begin like an image, or where the worker is to fetch them. */
export type IncomingFrame =
  | IncomingBytes
  | { readonly from: 'url'; readonly url: string }
  | { readonly from: 's3'; readonly bucket: string; readonly key: string };

export interface FrameKeeper {
  /**
   * @param field which frame it is, for the problem that may come of it
   * @returns where its bytes are now; of a frame that the worker is to fetch (and mask), where they are.
   * @throws ScenedeltaError 'storage-unavailable'; with a mask, image-unreadable or image-too-large.
   */
  keep(frame: IncomingFrame, mask: PrivacyMask | null, field: string): Promise<FrameRef>;
  /** The frame as it may be shown: a mask that is newer than its bytes is painted now. */
  shown(bytes: Uint8Array, mask: PrivacyMask, field: string): Promise<Uint8Array>;
}

export function createFrameKeeper(
  blobs: Pick<BlobStore, 'put'>,
  { pixelLimit }: Pick<Config, 'pixelLimit'>,
): FrameKeeper {
  const turn = pLimit(AT_ONCE);
  const shown: FrameKeeper['shown'] = (bytes, { polygons }, field) =>
    turn(() => maskFrame(bytes, polygons, { pixelLimit, field }));
  return {
    shown,
    async keep(frame, mask, field) {
      if (frame.from !== 'bytes') return frame;
      if (mask === null) {
        const { bytes, sha256, contentType } = frame;
        await blobs.put(frameKey(sha256), bytes);
        return { from: 'stored', sha256, bytes: bytes.length, contentType };
      }
      const bytes = await shown(frame.bytes, mask, field);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await blobs.put(frameKey(sha256), bytes);
      return { from: 'stored', sha256, bytes: bytes.length, contentType: 'image/jpeg', mask: mask.id };
    },
  };
}
