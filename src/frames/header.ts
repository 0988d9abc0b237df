/**
 * Header of a frame: whether the bytes are a picture, of which kind, and how large. Bytes that are no picture, or one
 * with too many pixels, are refused here, before any pixel is decoded.
 */
import { ScenedeltaError } from '../base/errors.js';
import { completeJpeg } from './complete-jpeg.js';
import { assertFewParts } from './count-parts.js';
import sharp, { type Metadata } from './sharp.js';

const MIN_SIDE = 16;
/** Longest side in short sides. A strip of 16 x 3,000,000 px takes seconds to shrink and shows nothing. */
const MAX_ASPECT = 100;
/** Longest side of a JPEG that can be written, as masked frames are. */
const MAX_SIDE = 65_500;
/**
 * AVIF is decoded at once and cannot be interrupted; 4096 x 4096 px take about half a second and 330 MB. An interlaced
 * PNG of 16 bit takes as long, 50 Mpx 1.6 s.
 */
const COSTLY_PIXELS = 4096 * 4096;
const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'];

export interface DecodeLimits {
  /** largest width x height of the encoded image */
  readonly pixelLimit: number;
  /** longest decoding in seconds, without the wait for memory; absent = 10 */
  readonly decodeTimeout?: number | undefined;
}

export interface HeaderLimits extends DecodeLimits {
  /** name of the frame in messages, and field of the errors */
  readonly field: string;
}

/**
 * @returns the upright size of a frame, by its header
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function frameSize(bytes: Uint8Array, limits: HeaderLimits) {
  const { width, height } = await readFrameHeader(bytes, limits);
  return { width, height };
}

/**
 * @returns the bytes to decode, upright size and metadata of a frame
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function readFrameHeader(bytes: Uint8Array, limits: HeaderLimits) {
  const header = await readHeader(bytes, limits);
  const { width, height } = header;
  if (Math.min(width, height) < MIN_SIDE) {
    throw new ScenedeltaError(
      'image-too-small',
      `${limits.field}: the image has ${width}x${height} px, expected at least ${MIN_SIDE} px on each side`,
      { field: limits.field },
    );
  }
  return header;
}

interface Header {
  readonly encoded: Uint8Array;
  readonly metadata: Metadata;
}

/** Headers by the bytes of their frames: size, shape and preview of one frame are asked for one after the other. */
const known = new WeakMap<Uint8Array, Header>();

async function parseHeader(bytes: Uint8Array, field: string): Promise<Header> {
  const encoded = completeJpeg(bytes);
  assertFewParts(encoded, field);
  const header = { encoded, metadata: await readMetadata(encoded, field) };
  known.set(bytes, header);
  return header;
}

/**
 * As readFrameHeader, for a picture of any size.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function readHeader(bytes: Uint8Array, { field, pixelLimit }: HeaderLimits) {
  const { encoded, metadata } = known.get(bytes) ?? (await parseHeader(bytes, field));
  const { width, height } = uprightSize(metadata);
  const costly = costlyKind(metadata);
  const [limit, by] =
    costly === null || COSTLY_PIXELS >= pixelLimit ? [pixelLimit, 'PIXEL_LIMIT'] : [COSTLY_PIXELS, costly];
  const refused = (code: 'image-too-large' | 'image-too-small', expected: string) =>
    new ScenedeltaError(code, `${field}: the image has ${width}x${height} px, expected ${expected}`, { field });
  if (width * height > limit) {
    throw refused('image-too-large', `at most ${limit} px in all (${by})`);
  }
  if (Math.max(width, height) > MAX_SIDE) {
    throw refused('image-too-large', `at most ${MAX_SIDE} px on each side`);
  }
  if (Math.max(width, height) > MAX_ASPECT * Math.min(width, height)) {
    throw refused('image-too-small', `a longer side of at most ${MAX_ASPECT} times the shorter one`);
  }
  return { encoded, width, height, metadata };
}

const costlyKind = ({ format, isProgressive }: Metadata): string | null =>
  format === 'heif' ? 'AVIF' : format === 'png' && isProgressive ? 'interlaced PNG' : null;

async function readMetadata(bytes: Uint8Array, field: string): Promise<Metadata> {
  const expected = `expected ${FORMATS.join(', ')}`;
  const unreadable = (reason: string, cause?: unknown) =>
    new ScenedeltaError('image-unreadable', `${field}: ${reason}, ${expected}`, { field, cause });
  if (bytes.byteLength === 0) throw unreadable('zero bytes came');
  let metadata: Metadata;
  try {
    metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw unreadable(`the ${bytes.byteLength} bytes are not an image`, error);
  }
  const format = metadata.format === 'heif' && metadata.compression === 'av1' ? 'avif' : metadata.format;
  if (!FORMATS.includes(format)) throw unreadable(`the image is ${format}`);
  return metadata;
}

/** EXIF orientations 5 to 8 store the image on its side; `pageHeight` is the height of one image of an animation. */
function uprightSize({ width, height, pageHeight = height, orientation = 1 }: Metadata) {
  return orientation >= 5 ? { width: pageHeight, height: width } : { width, height: pageHeight };
}
