/**
 * Deep grey: PNG and TIFF of thermal cameras with 16 bits or a floating-point number per pixel. A scene uses a small
 * part of such levels. They become 8-bit grey by one range for all frames that are compared with each other, because a
 * range per frame would alter the grey of everything that stays.
 */
import type { LevelRange } from '../base/images.js';
import type { DecodedFrame, DecodeOptions } from './decode.js';
import { withDecoderMemory } from './decoder-memory.js';
import { type DecodeLimits, frameSize } from './header.js';
import { damaged } from './lost-rows.js';
import sharp from './sharp.js';

/** Shares of the pixels below and above a range; both are clipped. */
const CLIPPED = 0.01;
/** Least width of a range of integers. Steps of a level or two are noise of the sensor. */
const LEAST_LEVELS = 64;
const MOST_LEVEL = 65_535;
/** Sensors of thermal cameras have a third of it at most; the levels of 50 Mpx would take seconds and 800 MB. */
const MOST_PIXELS = 4 * 1024 * 1024;
/** Levels that are sorted for a range. */
const SAMPLES = 65_536;
/** Levels at the bytes of a pixel: of the decoder, of this module, of the encoder. */
const BYTES_PER_PIXEL = 16;

export interface DeepGrey {
  readonly width: number;
  readonly height: number;
  /** row by row; those of floating point may be any number, infinite ones and NaN included */
  readonly levels: Float32Array;
  readonly isInteger: boolean;
}

/**
 * @returns null if the picture is not deep grey, or has more than 4 Mpx; such pictures are not decoded
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function readDeepGrey(
  bytes: Uint8Array,
  options: Omit<DecodeOptions, 'allocate'>,
): Promise<DeepGrey | null> {
  if (!isPngOf16Bit(bytes) && !isTiff(bytes)) return null;
  const size = await frameSize(bytes, options);
  if (size.width * size.height > MOST_PIXELS) return null;
  const image = sharp(bytes, { limitInputPixels: options.pixelLimit });
  const { depth, channels, space } = await image.metadata();
  if (depth === 'uchar' || depth === 'char' || channels > 2) return null;
  return withDecoderMemory(size.width * size.height * BYTES_PER_PIXEL, async () => {
    try {
      const { data, info } = await image
        .timeout({ seconds: options.decodeTimeout ?? 0 })
        .autoOrient()
        .removeAlpha()
        .toColourspace(space as string)
        .raw({ depth: 'float' })
        .toBuffer({ resolveWithObject: true });
      // The buffer may begin at any byte of a larger one.
      const levels = new Float32Array(Uint8Array.from(data).buffer);
      // A masked picture has floating point for its NaN alone.
      const isInteger = levels.every((level) => Number.isInteger(level) || Number.isNaN(level));
      return { width: info.width, height: info.height, levels, isInteger };
    } catch (error) {
      throw damaged(options.field, error instanceof Error ? error.message : String(error), error);
    }
  });
}

const isPngOf16Bit = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x89 && bytes[1] === 0x50 && bytes[24] === 16 && (bytes[25] === 0 || bytes[25] === 4);
const isTiff = ([a, b, c, d]: Uint8Array): boolean =>
  (a === 0x49 && b === 0x49 && d === 0) || (a === 0x4d && b === 0x4d && c === 0);

/** @returns the levels of all but the darkest and the brightest hundredth of the pixels */
export function spreadOf({ levels }: DeepGrey): LevelRange {
  const step = Math.ceil(levels.length / SAMPLES);
  const sorted = levels.filter((level, i) => i % step === 0 && Number.isFinite(level)).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(CLIPPED), high: at(1 - CLIPPED) };
}

/** @returns the spread of all pictures, and not so narrow that it would show the noise of a sensor */
export function rangeOf(...pictures: readonly DeepGrey[]): LevelRange {
  const ranges = pictures.map((grey) => widened(spreadOf(grey), grey));
  return { low: Math.min(...ranges.map(({ low }) => low)), high: Math.max(...ranges.map(({ high }) => high)) };
}

function widened({ low, high }: LevelRange, { isInteger }: DeepGrey): LevelRange {
  const more = Math.max(0, (isInteger ? LEAST_LEVELS : 0) - (high - low)) / 2;
  return { low: low - more, high: high + more };
}

/** @returns a range for warmer and colder times of a camera, too: twice as wide as the spread of one picture of it */
export function rangeOfCamera(spread: LevelRange, grey: DeepGrey): LevelRange {
  const { low, high } = widened(spread, grey);
  const more = (high - low) / 2;
  return grey.isInteger
    ? { low: Math.max(0, low - more), high: Math.min(MOST_LEVEL, high + more) }
    : { low: low - more, high: high + more };
}

/** @returns the share of the pixels outside of the range, 0 to 1 */
export const shareOutside = ({ levels }: DeepGrey, { low, high }: LevelRange): number =>
  levels.reduce((count, level) => count + (level < low || level > high ? 1 : 0), 0) / levels.length;

/** @returns a PNG of 8-bit grey: black from `low` down, white from `high` up, and black where there is no number */
export function inEightBits({ width, height, levels }: DeepGrey, { low, high }: LevelRange): Promise<Buffer> {
  const scale = 255 / (high - low || 1);
  // A clamped array rounds, and takes NaN for 0.
  const data = Uint8ClampedArray.from(levels, (level) => (level - low) * scale);
  return sharp(data, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .png({ compressionLevel: 3 })
    .toBuffer();
}

/** @returns deep grey as a JPEG by its range; other pictures as they are @throws ScenedeltaError as readDeepGrey */
export async function asJpeg(bytes: Uint8Array, options: Omit<DecodeOptions, 'allocate'>): Promise<Uint8Array> {
  const grey = await readDeepGrey(bytes, options);
  return grey === null
    ? bytes
    : sharp(await inEightBits(grey, rangeOf(grey)))
        .jpeg()
        .toBuffer();
}

export interface EncodedPair {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly beforeKey?: string;
  readonly afterKey?: string;
  /** the frame of `after`, if it is decoded already */
  readonly afterDecoded?: DecodedFrame | null;
}

/**
 * @param pair and what goes with it, e.g. a PairInput
 * @returns the pair with deep grey in eight bits, two of them by one range, then without keys and pixels
 * @throws ScenedeltaError as readDeepGrey
 */
export async function pairInEightBits<P extends EncodedPair>(pair: P, limits: DecodeLimits): Promise<P> {
  const before = await readDeepGrey(pair.before, { ...limits, field: 'before' });
  const after = await readDeepGrey(pair.after, { ...limits, field: 'after' });
  if (before === null && after === null) return pair;
  const range = rangeOf(...[before, after].filter((one) => one !== null));
  const { beforeKey: _before, afterKey: _after, afterDecoded: _decoded, ...rest } = pair;
  return {
    ...rest,
    before: before === null ? pair.before : await inEightBits(before, range),
    after: after === null ? pair.after : await inEightBits(after, range),
  } as P;
}
