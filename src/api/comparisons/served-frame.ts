/** A comparison's frame as the API may serve it, masked if its camera has a privacy mask. */
import { createHash } from 'node:crypto';
import type { FrameKeeper } from '../../frames/keep.js';
import type { Side } from '../../images.js';
import { frameKey } from '../../stores/blobs.js';
import type { StoredComparison } from '../../stores/results.js';
import type { ApiDependencies } from '../dependencies.js';

/** Cache-Control of frames and of heatmaps over them. */
export const PICTURE_CACHE = 'private, max-age=3600';

export interface ServedFrame {
  readonly contentType: string;
  /** differs for different bytes */
  readonly etag: string;
  /** @returns undefined if they are no longer kept */
  bytes(): Promise<Uint8Array | undefined>;
}

/**
 * A mask that the camera got after the frame was stored is painted when the frame is served.
 * @returns null if the frame has not been fetched
 */
export async function servedFrame(
  { comparison, frames }: StoredComparison,
  side: Side,
  deps: Pick<ApiDependencies, 'blobs' | 'cameras'>,
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
