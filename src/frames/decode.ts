/**
 * Decoder of frames: encoded bytes to 8-bit sRGB pixels, upright, without alpha. Bytes that are no image, or an image
 * with too many pixels, are refused by their header, before any pixel is decoded.
 */
import { ScenedeltaError } from '../base/errors.js';
import type { RgbImage, Size } from '../base/images.js';
import { expectedDecoderBytes, withDecoderMemory } from './decoder-memory.js';
import { repeatGrey } from './grey.js';
import { type HeaderLimits, readFrameHeader, readHeader } from './header.js';
import { damaged, findLostRows, type Rect } from './lost-rows.js';
import sharp, { type Sharp } from './sharp.js';
import { shrinkOnLoad } from './shrink-on-load.js';

/** Wider frames are halved until they fit: more pixels cost time and show nothing that a region crop would use. */
const WORKING_WIDTH = 1280;
/** Limit for tall frames (1280x2276 at 9:16): a tall image compresses well, and could take hundreds of MB decoded. */
const WORKING_PIXELS = 4 * 1024 * 1024;
/** Share of the rows below which a cut JPEG is refused. */
const LEAST_DECODED = 0.05;
/** Seconds, if a caller does not say. */
const DECODE_TIMEOUT = 10;
const LARGEST_JPEG_SHRINK = 8;

/** The pixels that the pipeline works on, and the upright size of the encoded image. */
export interface DecodedFrame extends RgbImage {
  readonly sourceWidth: number;
  readonly sourceHeight: number;
  /** share of the pixels that the file had data for, 0 to 1 */
  readonly decodedShare: number;
  /** the other pixels, which have no meaning; null: none */
  readonly lost: Rect | null;
}

export interface DecodeOptions extends HeaderLimits {
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
  { pixelLimit, decodeTimeout = DECODE_TIMEOUT }: HeaderLimits,
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
    // Not `set`, which copies into shared memory word by word.
    if (channels === 3) Buffer.from(rgb.buffer, rgb.byteOffset, bytes).fill(data);
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
