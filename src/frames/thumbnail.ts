/** Small pictures of frames, for lists. */
import { LRUCache } from 'lru-cache';
import { type DecodeLimits, decodeToFit } from './decode.js';
import type { ServedFrame } from './served-frame.js';
import sharp from './sharp.js';

/** px of the longer side: a card of the console on a screen with two device pixels per pixel */
const LONGEST_SIDE = 480;
const QUALITY = 75;
/** About a thousand pictures. */
const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * @param bytes an encoded frame, masked if its camera has privacy zones
 * @returns it as a JPEG of 20 to 40 kB, no side longer than 480 px
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function thumbnail(
  bytes: Uint8Array,
  options: DecodeLimits & { readonly field: string },
): Promise<Buffer> {
  const { data, width, height } = await decodeToFit(bytes, LONGEST_SIDE, options);
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer();
}

/** Small pictures that were served lately, so that a list of many cameras decodes each frame once. */
export function createThumbnails({ pixelLimit, decodeTimeout }: DecodeLimits) {
  const kept = new LRUCache<string, Buffer>({ maxSize: CACHE_BYTES, sizeCalculation: (bytes) => bytes.length });
  return {
    /**
     * @param name differs for different pictures
     * @returns undefined if the frame is no longer kept. @throws as `thumbnail`
     */
    async read(name: string, frame: Pick<ServedFrame, 'bytes'>, field: string): Promise<Buffer | undefined> {
      // Read first, so that a frame whose bytes were erased is not served from memory.
      const bytes = await frame.bytes();
      if (bytes === undefined) return undefined;
      const found = kept.get(name);
      if (found !== undefined) return found;
      const made = await thumbnail(bytes, { pixelLimit, decodeTimeout, field });
      kept.set(name, made);
      return made;
    },
  };
}
