/**
 * Admission of decoders by the memory that they are expected to use. A file of a few kB can have 50 Mpx; without a
 * common limit as many of them as there are jobs would be in memory at once.
 */
import { Semaphore } from 'async-mutex';
import type { Metadata } from './sharp.js';

const MiB = 1024 * 1024;
/** Memory of all decoders of this process. An image that needs more is decoded while no other is. */
const BUDGET_MIB = 512;
/** Memory of any decoder: lines in progress, the output at working size, the library's own tables. */
const BASE_MIB = 16;

/**
 * Bytes per pixel of a decoder that holds the whole image, measured with 49 Mpx images and rounded up. libheif holds
 * the planes of the AV1 decoder, a converted copy and an interleaved one.
 */
const WHOLE_IMAGE_BYTES: Readonly<Record<string, number>> = { heif: 20, gif: 5, webp: 5, tiff: 4 };
/** The coefficients of a progressive JPEG take two bytes. */
const COEFFICIENT_BYTES = 2;

const admission = new Semaphore(BUDGET_MIB);

/** Bytes per pixel of an output at full size that is encoded again; a turned image is copied once more. */
const FULL_SIZE_BYTES = { upright: 4, turned: 7 };

/** @param fullSize the output has all pixels, not those of the working size, and is encoded again */
export function expectedDecoderBytes(metadata: Metadata, { fullSize }: { fullSize: boolean }): number {
  const { format, width, height, pageHeight = height, isProgressive, channels, depth } = metadata;
  const perSample = depth === 'uchar' ? 1 : 2;
  let perPixel = WHOLE_IMAGE_BYTES[format] ?? 0;
  if (format === 'jpeg' && isProgressive) perPixel = channels * COEFFICIENT_BYTES;
  // Interlaced lines come in no order, and a turned image is read across its lines.
  if (format === 'png' && (isProgressive || isTurned(metadata))) perPixel = channels * perSample + 1;
  const output = fullSize ? FULL_SIZE_BYTES[isTurned(metadata) ? 'turned' : 'upright'] : 0;
  return BASE_MIB * MiB + width * pageHeight * (perPixel + output);
}

const isTurned = ({ orientation = 1 }: Metadata) => orientation > 1;

/**
 * Runs a decoder once enough memory is free. Waiting decoders run in the order in which they came.
 * @param bytes of expectedDecoderBytes
 */
export function withDecoderMemory<T>(bytes: number, decode: () => Promise<T>): Promise<T> {
  return admission.runExclusive(decode, Math.min(BUDGET_MIB, Math.ceil(bytes / MiB)));
}
