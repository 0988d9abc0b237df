/** Keeper of frames: stores uploaded frames, with privacy masks painted before a byte is written. */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { type BlobStore, frameKey } from '../base/blobs.js';
import type { PrivacyMask } from '../base/privacy-mask.js';
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import type { DecodeLimits } from './header.js';

/** Number of frames that are masked at a time; others wait, so that many uploads at once do not exhaust the memory. */
const CONCURRENT_MASKS = 2;

/** A frame's encoded bytes, and the reference under which they are stored. */
export interface StoredFrame {
  readonly bytes: Uint8Array;
  readonly ref: StoredFrameRef;
}

export interface IncomingBytes {
  readonly from: 'bytes';
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly contentType: string;
}

/** A frame of a request: bytes whose type was sniffed, or the address from which a worker will fetch them. */
export type IncomingFrame =
  | IncomingBytes
  | { readonly from: 'url'; readonly url: string }
  | { readonly from: 's3'; readonly bucket: string; readonly key: string };

export interface FrameKeeper {
  /**
   * @param mask null = none
   * @param field name of the frame in errors
   * @returns the reference of the stored bytes; an address is returned unchanged, because the worker fetches and masks
   *   it
   * @throws ScenedeltaError storage-unavailable; with a mask also image-unreadable and image-too-large
   */
  keep(frame: IncomingFrame, mask: PrivacyMask | null, field: string): Promise<FrameRef>;
  /** @returns the frame as it may be shown: with a mask that is newer than the stored bytes */
  shown(bytes: Uint8Array, mask: PrivacyMask, field: string): Promise<Uint8Array>;
}

export function createFrameKeeper(
  blobs: Pick<BlobStore, 'put'>,
  { pixelLimit, decodeTimeout }: DecodeLimits,
): FrameKeeper {
  const limit = pLimit(CONCURRENT_MASKS);
  const masked = (bytes: Uint8Array, mask: PrivacyMask, field: string) =>
    limit(async () => {
      // Loaded with the first mask, as the decoder that it needs.
      const { maskedFrame } = await import('./privacy-mask.js');
      return maskedFrame(bytes, mask, { pixelLimit, decodeTimeout, field });
    });
  return {
    async shown(bytes, mask, field) {
      const { asJpeg } = await import('./deep-grey.js');
      return asJpeg((await masked(bytes, mask, field)).bytes, { pixelLimit, decodeTimeout, field });
    },
    async keep(frame, mask, field) {
      if (frame.from !== 'bytes') return frame;
      if (mask === null) return (await storeFrame(blobs, frame)).ref;
      return (await storeFrame(blobs, await masked(frame.bytes, mask, field))).ref;
    },
  };
}

/**
 * Stores a frame under the sha256 of its bytes.
 * @throws ScenedeltaError storage-unavailable
 */
export async function storeFrame(
  blobs: Pick<BlobStore, 'put'>,
  frame: {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    /** of the bytes, in hexadecimal; computed if absent */
    readonly sha256?: string;
    /** id of the mask that is painted on the bytes; absent = none */
    readonly mask?: string | undefined;
  },
): Promise<StoredFrame> {
  const { bytes, contentType, mask } = frame;
  const sha256 = frame.sha256 ?? createHash('sha256').update(bytes).digest('hex');
  await blobs.put(frameKey(sha256), bytes);
  const masked = mask === undefined ? {} : { mask };
  return { bytes, ref: { from: 'stored', sha256, bytes: bytes.byteLength, contentType, ...masked } };
}
