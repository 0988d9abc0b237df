/** A comparison's frame as it may be shown, masked if its camera has a privacy mask. */
import { createHash } from 'node:crypto';
import { type BlobStore, frameKey } from '../base/blobs.js';
import type { Side } from '../base/images.js';
import type { PrivacyMask } from '../base/privacy-mask.js';
import type { StoredFrameRef } from '../schemas/frame-ref.js';
import type { FrameKeeper } from './keep.js';

export interface ServedFrame {
  readonly contentType: string;
  /** differs for different bytes */
  readonly etag: string;
  /** @returns undefined if they are no longer kept */
  bytes(): Promise<Uint8Array | undefined>;
}

/** Frames of a comparison, and the camera whose mask they need. */
export interface ComparedFrames {
  readonly comparison: { readonly camera: string | null };
  readonly frames: Readonly<Record<Side, StoredFrameRef | null>>;
}

export interface Masks {
  maskOf(camera: string | null): Promise<PrivacyMask | null>;
}

/**
 * A mask that the camera got after the frame was stored is painted when the frame is served.
 * @returns null if the frame has not been fetched
 */
export async function servedFrame(
  { comparison, frames }: ComparedFrames,
  side: Side,
  deps: { readonly blobs: Pick<BlobStore, 'get'>; readonly cameras: Masks },
  keeper: Pick<FrameKeeper, 'shown'>,
): Promise<ServedFrame | null> {
  const frame = frames[side];
  if (frame === null) return null;
  const read = () => deps.blobs.get(frameKey(frame.sha256));
  const mask = await deps.cameras.maskOf(comparison.camera);
  if (mask === null || mask.id === frame.mask) {
    return { contentType: frame.contentType, etag: `"${frame.sha256}"`, bytes: read };
  }
  return {
    contentType: 'image/jpeg',
    // A hash of the hash, because the hash itself identifies the unmasked bytes.
    etag: `"${createHash('sha256').update(`${frame.sha256}-${mask.id}`).digest('hex')}"`,
    bytes: async () => {
      const bytes = await read();
      return bytes && keeper.shown(bytes, mask, side);
    },
  };
}
