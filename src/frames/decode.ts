/**
 * Decoder of frames: encoded bytes to 8-bit sRGB pixels, upright, without alpha. Bytes that are no image, or an image
 * with too many pixels, are refused by their header, before any pixel is decoded.
 */
import { ScenedeltaError } from '../base/errors.js';
import type { RgbImage, Size } from '../base/images.js';
import { completeJpeg } from './complete-jpeg.js';
import { assertFewParts } from './count-parts.js';
import { expectedDecoderBytes, withDecoderMemory } from './decoder-memory.js';
import { repeatGrey } from './grey.js';
import { damaged, findLostRows, type Rect } from './lost-rows.js';
import sharp, { type Metadata, type Sharp } from './sharp.js';
import { shrinkOnLoad } from './shrink-on-load.js';

/** Wider frames are halved until they fit: more pixels cost time and show nothing that a region crop would use. */
const WORKING_WIDTH = 1280;
/** Limit for tall frames (1280x2276 at 9:16): a tall image compresses well, and could take hundreds of MB decoded. */
const WORKING_PIXELS = 4 * 1024 * 1024;
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
/** Share of the rows below which a cut JPEG is refused. */
const LEAST_DECODED = 0.05;
/** Seconds, if a caller does not say. */
const DECODE_TIMEOUT = 10;
const LARGEST_JPEG_SHRINK = 8;
const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'];

/** The pixels that the pipeline works on, and the upright size of the encoded image. */
export interface DecodedFrame extends RgbImage {
  readonly sourceWidth: number;
  readonly sourceHeight: number;
  /** share of the pixels that the file had data for, 0 to 1 */
  readonly decodedShare: number;
  /** the other pixels, which have no meaning; null: none */
  readonly lost: Rect | null;
}

export interface DecodeLimits {
  /** largest width x height of the encoded image */
  readonly pixelLimit: number;
  /** longest decoding in seconds, without the wait for memory; absent = 10 */
  readonly decodeTimeout?: number | undefined;
}

export interface DecodeOptions extends DecodeLimits {
  /** name of the frame in messages, and field of the errors */
  readonly field: string;
  /** @returns a buffer of exactly this many bytes for the pixels; absent = a new Uint8Array */
  readonly allocate?: (bytes: number) => Uint8Array;
}

/**
 * Decodes a frame at working size: at most 1280 px wide and 4 Mpx in all. EXIF orientation is applied, alpha is
 * flattened on black, greyscale, CMYK and 16 bit are converted, and of an animation the first image is taken. A
 * JPEG without its end marker, with bytes before its start or between its markers (as many cameras send) is complete; a
 * JPEG with rows missing is decoded up to them.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export const decodeFrame = (bytes: Uint8Array, options: DecodeOptions): Promise<DecodedFrame> =>
  decodeReduced(bytes, workingReduction, options);

/**
 * Decodes a frame at a fraction of its size; otherwise as decodeFrame.
 * @param reductionOf gives the divisor of both sides, a power of 2, for the upright size of the frame
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function decodeReduced(
  bytes: Uint8Array,
  reductionOf: (width: number, height: number) => number,
  options: DecodeOptions,
): Promise<DecodedFrame> {
  const { encoded, width, height, metadata } = await readFrameHeader(bytes, options);
  const reduction = reductionOf(width, height);
  return withDecoderMemory(expectedDecoderBytes(metadata, { fullSize: false }), async () => {
    const shrunk = metadata.format === 'jpeg' ? await loadShrunk(encoded, reduction) : null;
    try {
      const input = shrunk?.input ?? encoded;
      const size = [width, height].map((side) => reduced(side, reduction)) as [number, number];
      const resized = (image: Sharp): Sharp =>
        reduction > 1 ? image.resize(...size, { fit: 'fill', kernel: 'linear' }) : image;
      const { wasCut, ...image } = await toRgb(input, options, resized);
      // Its rows are all there, with fewer details: none can be named as lost.
      if (wasCut && metadata.isProgressive === true)
        throw damaged(options.field, 'scans of a progressive JPEG are missing');
      const lost = wasCut ? findLostRows(image, metadata.orientation ?? 1) : null;
      const decodedShare = lost === null ? 1 : 1 - (lost.width * lost.height) / (image.width * image.height);
      if (decodedShare < LEAST_DECODED) throw damaged(options.field, 'the rows of the image are missing');
      return { ...image, sourceWidth: width, sourceHeight: height, decodedShare, lost };
    } finally {
      await shrunk?.close();
    }
  });
}

/**
 * Decodes a frame of any size with all its pixels; otherwise as decodeFrame.
 * @param use works on the pixels and encodes them again; the memory is reserved until it has ended
 * @returns what `use` returns
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function withFullSize<T>(
  bytes: Uint8Array,
  options: DecodeOptions,
  use: (image: RgbImage) => Promise<T>,
): Promise<T> {
  const { encoded, metadata } = await readHeader(bytes, options);
  return withDecoderMemory(expectedDecoderBytes(metadata, { fullSize: true }), async () =>
    use(await toRgb(encoded, options)),
  );
}

/**
 * Decodes a frame for a screen: no side is longer than `maxSide` px; otherwise as decodeFrame.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function decodeToFit(bytes: Uint8Array, maxSide: number, options: DecodeOptions): Promise<RgbImage> {
  const { encoded, metadata } = await readHeader(bytes, options);
  const size = { width: maxSide, height: maxSide };
  return withDecoderMemory(expectedDecoderBytes(metadata, { fullSize: false }), () =>
    toRgb(encoded, options, (image) => image.resize({ ...size, fit: 'inside', withoutEnlargement: true })),
  );
}

type Limits = DecodeLimits & Pick<DecodeOptions, 'field'>;

/**
 * @returns the upright size of a frame, by its header
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function frameSize(bytes: Uint8Array, limits: Limits) {
  const { width, height } = await readFrameHeader(bytes, limits);
  return { width, height };
}

async function readFrameHeader(bytes: Uint8Array, limits: Limits) {
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

async function readHeader(bytes: Uint8Array, { field, pixelLimit }: Limits) {
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

const reduced = (side: number, reduction: number) => Math.max(1, Math.floor(side / reduction));

/** @returns 1, 2, 4, ...: as few halvings as the working size allows. A JPEG decoder can halve while it decodes. */
function workingReduction(width: number, height: number): number {
  let reduction = 1;
  const pixels = () => reduced(width, reduction) * reduced(height, reduction);
  while (reduced(width, reduction) > WORKING_WIDTH || pixels() > WORKING_PIXELS) reduction *= 2;
  return reduction;
}

/** @returns the size at which the pipeline works on frames of this size, px */
export function workingSize({ width, height }: Size): Size {
  const reduction = workingReduction(width, height);
  return { width: reduced(width, reduction), height: reduced(height, reduction) };
}

const loadShrunk = (jpeg: Uint8Array, reduction: number) =>
  reduction === 1 ? null : shrinkOnLoad(jpeg, Math.min(reduction, LARGEST_JPEG_SHRINK));

/** @param input encoded bytes, or the name of a file */
const open = (
  input: Uint8Array | string,
  failOn: 'none' | 'warning' | 'error',
  { pixelLimit, decodeTimeout = DECODE_TIMEOUT }: Limits,
): Sharp =>
  sharp(input, { failOn, limitInputPixels: pixelLimit })
    .timeout({ seconds: decodeTimeout })
    .autoOrient()
    .flatten({ background: 'black' })
    .toColourspace('srgb');

/**
 * libjpeg's warning that rows are missing, which it fills with grey. A cut inside the last 16 rows of a frame that is
 * halved while it is decoded gives no warning.
 */
const ROWS_MISSING = /premature end of data segment/i;

/** sharp's message if a warning's reason is lost: a decode that ends empties libvips's error buffer for all threads. */
const REASON_LOST = /^Warning treated as error/;
const REASON_TRIES = 10;

/**
 * Any warning fails first, because a missing row is one; a picture with another one is decoded again without.
 * @param input encoded bytes, or the name of a file
 */
async function pixelsOf(input: Uint8Array | string, options: DecodeOptions, altered: (image: Sharp) => Sharp) {
  const decoded = async (failOn: 'none' | 'warning' | 'error') => ({
    ...(await altered(open(input, failOn, options))
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })),
    wasCut: failOn === 'none',
  });
  for (let tries = 1; ; tries++) {
    try {
      return await decoded('warning');
    } catch (error) {
      const { message } = error as Error;
      if (TIMED_OUT.test(message)) throw error;
      if (REASON_LOST.test(message) && tries < REASON_TRIES) continue;
      if (!ROWS_MISSING.test(message)) return decoded('error');
      return decoded('none');
    }
  }
}

async function toRgb(
  input: Uint8Array | string,
  options: DecodeOptions,
  altered: (image: Sharp) => Sharp = (image) => image,
): Promise<RgbImage & { readonly wasCut: boolean }> {
  const { field, allocate, decodeTimeout = DECODE_TIMEOUT } = options;
  try {
    const { data, info, wasCut } = await pixelsOf(input, options, altered);
    const { width, height, channels } = info;
    if (channels === 3 && allocate === undefined) return { width, height, data, wasCut };
    const bytes = width * height * 3;
    const rgb = allocate?.(bytes) ?? new Uint8Array(bytes);
    if (channels === 3) rgb.set(data);
    else repeatGrey(data, channels, rgb);
    return { width, height, data: rgb, wasCut };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error);
    if (TIMED_OUT.test(reason)) {
      const limit = `${decodeTimeout} s (DECODE_TIMEOUT)`;
      throw new ScenedeltaError('processing-timeout', `${field}: the image was not decoded within ${limit}`, {
        field,
        cause: error,
      });
    }
    throw damaged(field, reason, error);
  }
}

/** sharp's message, e.g. 'timeout: 42% complete'. */
const TIMED_OUT = /^timeout: /;
