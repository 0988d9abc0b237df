/** Previews of examined frames: kept in memory while they are used, otherwise decoded again from the stored frame. */
import { LRUCache } from 'lru-cache';
import { type BlobStore, frameKey } from '../../base/blobs.js';
import type { Preview } from '../../base/images.js';
import type { DecodeLimits } from '../../frames/header.js';
import { decodePreview } from '../../frames/preview.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';

/** Previews by the frame that they show. A caller whose previews do not come from stored frames has one of its own. */
export interface PreviewStore {
  /** @returns null if there is none any more: the next frame is examined */
  load(frame: StoredFrameRef): Promise<Preview | null>;
  keep(frame: StoredFrameRef, preview: Preview): void;
}

/** Bytes: a preview of a frame of 1080p takes 130 kB, so that 500 cameras have room. */
const LIMIT = 64 * 1024 * 1024;

export function createPreviewStore({
  blobs,
  decodeLimits,
}: {
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly decodeLimits: DecodeLimits;
}): PreviewStore {
  const kept = new LRUCache<string, Preview>({ maxSize: LIMIT, sizeCalculation: ({ luma }) => luma.byteLength });
  return {
    async load({ sha256 }) {
      const preview = kept.get(sha256);
      if (preview !== undefined) return preview;
      const bytes = await blobs.get(frameKey(sha256));
      if (bytes === undefined) return null;
      const decoded = await decodePreview(bytes, { ...decodeLimits, field: 'examined' });
      kept.set(sha256, decoded);
      return decoded;
    },
    keep: ({ sha256 }, preview) => void kept.set(sha256, preview),
  };
}
