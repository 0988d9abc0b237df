/** From a frame's encoded bytes to pixels. What is not a picture, or too big, is refused on its header, before any pixel is decoded. */

import { ScenedeltaError } from '../errors.js';
import type { RgbImage, Side } from '../images.js';
import sharp, { type Metadata, type Sharp } from './sharp.js';
import { shrinkOnLoad } from './shrink-on-load.js';

/** A glance enlarges further anyway, and more pixels only cost time: wider frames are halved until they fit. */
const WORKING_WIDTH = 1280;
/** Nor does an upright frame have more (1280x2276 at 9:16): a tower of pixels packs well, and would take hundreds of megabytes. */
const WORKING_PIXELS = 4 * 1024 * 1024;
const MIN_SIDE = 16;
const LARGEST_JPEG_SHRINK = 8;
const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'];

// One thread a frame: comparisons run beside each other. Frames do not come twice, so there is nothing to cache.
sharp.concurrency(1);
sharp.cache(false);
// Only these decoders: others (SVG, PDF, ...) would open more of the machine to whoever sends a frame.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Tiff', 'Nsgif'].map((format) => `VipsForeignLoad${format}`),
});

/** The working frame, and the upright size that came. */
export interface Frame extends RgbImage {
  readonly sourceWidth: number;
  readonly sourceHeight: number;
}

export interface DecodeOptions {
  /** for messages and the error's field */
  readonly side: Side;
  /** most pixels (width x height) of the encoded picture */
  readonly pixelLimit: number;
  /** where the pixels go: a view of exactly this many bytes */
  readonly allocate: (bytes: number) => Uint8Array;
}

/**
 * The working frame: EXIF orientation applied, alpha flattened on black, grey, CMYK and 16 bit converted to 8-bit sRGB, the
 * first picture of an animation, at most 1280 px wide and 4 Mpx in all. Truncated files are refused; damage that decoders usually forgive
 * (stray bytes between JPEG markers, as many cameras send) is forgiven.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function decodeFrame(bytes: Uint8Array, options: DecodeOptions): Promise<Frame> {
  const { side, pixelLimit, allocate } = options;
  const { width, height, format } = await checkHeader(bytes, options);
  const working = workingSize(width, height);
  const shrunk = format === 'jpeg' ? await loadShrunk(bytes, working.halvings) : null;
  try {
    const picture = sharp(shrunk?.input ?? bytes, { failOn: 'error', limitInputPixels: pixelLimit })
      .autoOrient()
      .flatten({ background: 'black' })
      .toColourspace('srgb');
    if (working.halvings > 1) {
      picture.resize(working.width, working.height, { fit: 'fill', kernel: 'linear' });
    }
    return { ...(await toRgb(picture, side, allocate)), sourceWidth: width, sourceHeight: height };
  } finally {
    await shrunk?.close();
  }
}

const loadShrunk = (jpeg: Uint8Array, halvings: number) =>
  halvings === 1 ? null : shrinkOnLoad(jpeg, Math.min(halvings, LARGEST_JPEG_SHRINK));

type Limits = Pick<DecodeOptions, 'side' | 'pixelLimit'>;

/**
 * Of the upright picture, by its header alone.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small
 */
export async function frameSize(bytes: Uint8Array, limits: Limits) {
  const { width, height } = await checkHeader(bytes, limits);
  return { width, height };
}

async function checkHeader(bytes: Uint8Array, { side, pixelLimit }: Limits) {
  const metadata = await readHeader(bytes, side);
  const { width, height } = orientedSize(metadata);
  if (width * height > pixelLimit) {
    throw new ScenedeltaError(
      'image-too-large',
      `${side}: the picture has ${width}x${height} px, expected at most ${pixelLimit} px in all`,
      { field: side },
    );
  }
  if (Math.min(width, height) < MIN_SIDE) {
    throw new ScenedeltaError(
      'image-too-small',
      `${side}: the picture has ${width}x${height} px, expected at least ${MIN_SIDE} px a side`,
      { field: side },
    );
  }
  return { width, height, format: metadata.format };
}

async function readHeader(bytes: Uint8Array, side: Side): Promise<Metadata> {
  if (bytes.byteLength === 0) {
    throw new ScenedeltaError('image-unreadable', `${side}: zero bytes came, expected a picture`, {
      field: side,
    });
  }
  let metadata: Metadata;
  try {
    metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw new ScenedeltaError(
      'image-unreadable',
      `${side}: the ${bytes.byteLength} bytes are not a picture, expected ${FORMATS.join(', ')}`,
      { field: side, cause: error },
    );
  }
  const format = metadata.format === 'heif' && metadata.compression === 'av1' ? 'avif' : metadata.format;
  if (!FORMATS.includes(format)) {
    throw new ScenedeltaError(
      'image-unreadable',
      `${side}: the picture is ${format}, expected ${FORMATS.join(', ')}`,
      {
        field: side,
      },
    );
  }
  return metadata;
}

/** Upright: orientations 5 to 8 lie on their side. */
function orientedSize({ width, height, pageHeight, orientation = 1 }: Metadata): {
  width: number;
  height: number;
} {
  const tall = pageHeight ?? height;
  return orientation >= 5 ? { width: tall, height: width } : { width, height: tall };
}

/** Halving is what a JPEG decoder can do while it decodes. `halvings` is their product: 1, 2, 4, ... */
function workingSize(width: number, height: number) {
  let halvings = 1;
  const halved = (side: number) => Math.max(1, Math.floor(side / halvings));
  while (halved(width) > WORKING_WIDTH || halved(width) * halved(height) > WORKING_PIXELS) halvings *= 2;
  return { width: halved(width), height: halved(height), halvings };
}

async function toRgb(picture: Sharp, side: Side, allocate: (bytes: number) => Uint8Array): Promise<RgbImage> {
  try {
    const { data, info } = await picture.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    const rgb = allocate(width * height * 3);
    if (channels === 3) rgb.set(data);
    else spreadGrey(data, channels, rgb);
    return { width, height, data: rgb };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error);
    throw new ScenedeltaError(
      'image-unreadable',
      `${side}: the picture is damaged or cut off (${reason}), expected a whole one`,
      { field: side, cause: error },
    );
  }
}

/** One channel to three; more channels than three do not come, because alpha has been flattened. */
function spreadGrey(data: Uint8Array, channels: number, rgb: Uint8Array): void {
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3)
    rgb.fill(data[from] as number, to, to + 3);
}
