/** A comparison's frame as it may be shown. */
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
  /** another one for other bytes */
  readonly etag: string;
  /** undefined where they are no longer kept */
  bytes(): Promise<Uint8Array | undefined>;
}

/**
 * A camera may have got a privacy mask, or another one, since the frame was stored: it is painted when the frame is shown.
 * @returns null where the frame has not been fetched.
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
    // of the hash, not the hash: it names the bytes that are not to be seen
    etag: `"${createHash('sha256').update(`${frame.sha256}-${mask.id}`).digest('hex')}"`,
    bytes: async () => {
      const bytes = await read();
      return bytes && keeper.shown(bytes, mask, side);
    },
  };
}
