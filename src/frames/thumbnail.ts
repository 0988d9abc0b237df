/** Small pictures of frames, and of a thing in a frame, for lists. */
import { LRUCache } from 'lru-cache';
import type { Box, Size } from '../base/images.js';
import { decodeToFit } from './decode.js';
import type { DecodeLimits } from './header.js';
import type { ServedFrame } from './served-frame.js';
import sharp from './sharp.js';

/** px of the longer side: a card of the console on a screen with two device pixels per pixel */
const LONGEST_SIDE = 480;
/** px of the longer side to which a frame is decoded for the crop of a thing that is small in it */
const LONGEST_DECODED = 2560;
const QUALITY = 75;
/** About a thousand pictures. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Width of a crop in units of its height, as that of the frame of most cameras. */
const CROP_ASPECT = 4 / 3;
/** Sides of a crop in sides of its thing: a thing is recognised by what is around it. */
const ROOM = 1.8;
/** Least height of a crop, as a share of the frame: a smaller one has too few pixels. */
const LEAST_HEIGHT = 0.25;

/**
 * @param box of the thing, in shares of the frame
 * @param frame size of the frame, for its aspect ratio
 * @returns the part of the frame around the thing, in shares of it: four wide and three high if the frame is that large
 */
export function partAround({ x, y, width, height }: Box, frame: Size): Box {
  const aspect = CROP_ASPECT * (frame.height / frame.width);
  const high = Math.max(height * ROOM, (width * ROOM) / aspect, LEAST_HEIGHT);
  const [w, h] = [Math.min(high * aspect, 1), Math.min(high, 1)];
  const within = (centre: number, side: number) => Math.min(Math.max(centre - side / 2, 0), 1 - side);
  return { x: within(x + width / 2, w), y: within(y + height / 2, h), width: w, height: h };
}

interface ThumbnailOptions extends DecodeLimits {
  readonly field: string;
  /** box of a thing, in shares of the frame: the picture is a crop around it */
  readonly around?: Box | undefined;
  /** px of the longer side; default: 480 */
  readonly longest?: number;
}

/**
 * @param bytes an encoded frame, masked if its camera has privacy zones
 * @returns a JPEG of 20 to 40 kB
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function thumbnail(
  bytes: Uint8Array,
  { around, longest = LONGEST_SIDE, ...options }: ThumbnailOptions,
): Promise<Buffer> {
  const { data, width, height } = await decodeToFit(bytes, around ? LONGEST_DECODED : longest, options);
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  if (around !== undefined) {
    const part = partAround(around, { width, height });
    const [left, top] = [Math.floor(part.x * width), Math.floor(part.y * height)];
    image
      .extract({
        left,
        top,
        width: Math.max(1, Math.min(Math.round(part.width * width), width - left)),
        height: Math.max(1, Math.min(Math.round(part.height * height), height - top)),
      })
      .resize(longest, longest, { fit: 'inside', withoutEnlargement: true });
  }
  return image.jpeg({ quality: QUALITY }).toBuffer();
}

/** Small pictures that were served lately, so that a list of many cameras decodes each frame once. */
export function createThumbnails({ pixelLimit, decodeTimeout }: DecodeLimits) {
  const kept = new LRUCache<string, Buffer>({ maxSize: CACHE_BYTES, sizeCalculation: (bytes) => bytes.length });
  return {
    /**
     * @param name differs for different pictures
     * @param around as for `thumbnail`
     * @returns undefined if the frame is no longer kept. @throws as `thumbnail`
     */
    async read(
      name: string,
      frame: Pick<ServedFrame, 'bytes'>,
      field: string,
      around?: Box,
    ): Promise<Buffer | undefined> {
      // Read first, so that a frame whose bytes were erased is not served from memory.
      const bytes = await frame.bytes();
      if (bytes === undefined) return undefined;
      const found = kept.get(name);
      if (found !== undefined) return found;
      const made = await thumbnail(bytes, { pixelLimit, decodeTimeout, field, around });
      kept.set(name, made);
      return made;
    },
  };
}
