/**
 * Pictures for the describer: region crops of both frames, and on request the whole frames, as JPEG files. They are
 * encoded from pixels, so that no metadata of the frames is left. The caller paints privacy masks before.
 */
import { type DecodeLimits, withFullSize } from '../frames/decode.js';
import sharp from '../frames/sharp.js';
import type { Box, RgbImage, Side } from '../images.js';
import type { JpegPair } from './request.js';

/** Longest side of a crop and of a whole frame, px. */
const CROP_SIDE = 448;
const FRAME_SIDE = 640;
/** A crop shows its box and this share of the box's longer side around it (set, not fitted). */
const MARGIN = 0.5;
/** Shortest side of a crop, px of the frame: less shows nothing. */
const LEAST_SIDE = 64;
const QUALITY = 85;

interface Pictures {
  /** in the order of the boxes */
  readonly crops: readonly JpegPair[];
  readonly frames: JpegPair | null;
}

/**
 * @param frames encoded and masked
 * @param boxes fractions of the frame
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small, processing-timeout
 */
export async function picturesOf(
  frames: Readonly<Record<Side, Uint8Array>>,
  boxes: readonly Box[],
  options: { readonly fullFrames: boolean; readonly decodeLimits: DecodeLimits },
): Promise<Pictures> {
  const { pixelLimit, decodeTimeout } = options.decodeLimits;
  // One frame after the other, so that only one is in memory with all its pixels.
  const of = (side: Side) =>
    withFullSize(frames[side], { pixelLimit, decodeTimeout, field: side }, async (image) => {
      const crops: Uint8Array[] = [];
      for (const box of boxes) crops.push(await encode(image, cropOf(box, image), CROP_SIDE));
      const full = { left: 0, top: 0, width: image.width, height: image.height };
      return { crops, frame: options.fullFrames ? await encode(image, full, FRAME_SIDE) : null };
    });
  const before = await of('before');
  const after = await of('after');
  return {
    crops: before.crops.map((crop, i) => ({ before: crop, after: after.crops[i] as Uint8Array })),
    frames: before.frame && after.frame && { before: before.frame, after: after.frame },
  };
}

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** @returns whole pixels inside the frame, around the box */
function cropOf(box: Box, { width, height }: RgbImage): Rectangle {
  const margin = MARGIN * Math.max(box.width * width, box.height * height);
  const span = (start: number, length: number, most: number): [from: number, size: number] => {
    const size = Math.min(most, Math.round(Math.max(length + 2 * margin, LEAST_SIDE)));
    const from = Math.round(start + length / 2 - size / 2);
    return [Math.max(0, Math.min(from, most - size)), size];
  };
  const [left, cropWidth] = span(box.x * width, box.width * width, width);
  const [top, cropHeight] = span(box.y * height, box.height * height, height);
  return { left, top, width: cropWidth, height: cropHeight };
}

const encode = ({ data, width, height }: RgbImage, area: Rectangle, side: number): Promise<Uint8Array> =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .extract(area)
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toBuffer();
