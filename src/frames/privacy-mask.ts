/** Privacy masks: painted before anything else reads a frame, and never undone. No I/O. */

import type { Point, Polygon } from '../cameras/polygon.js';
import { ScenedeltaError } from '../errors.js';
import type { RgbImage } from '../images.js';
import { sniffImage } from './image-type.js';
import sharp from './sharp.js';

/**
 * How far around a zone is painted as well, in pixels. JPEG (and the like) code blocks of up to 16 px, so that what lay under the
 * mask colours all of the blocks that it touches; enlarging the colour channels carries it one pixel further.
 */
const LOSSY_MARGIN = 17;
const LOSSLESS = ['image/png', 'image/gif'];
/** Fine enough that the second coding of a frame adds nothing that could be taken for a change. */
const QUALITY = 95;

/**
 * @param bytes an encoded frame
 * @returns the upright frame as a JPEG, black under the polygons. Nothing else of the file is kept: its metadata may hold a small picture
 * of the whole.
 * @throws ScenedeltaError 'image-unreadable' or 'image-too-large', naming `field`.
 */
export async function maskFrame(
  bytes: Uint8Array,
  polygons: readonly Polygon[],
  { pixelLimit, field }: { pixelLimit: number; field: string },
): Promise<Uint8Array> {
  const margin = LOSSLESS.includes(sniffImage(bytes, field)) ? 0 : LOSSY_MARGIN;
  const { data, width, height } = await decode(bytes, pixelLimit, field);
  for (const polygon of polygons) paintPolygon({ data, width, height }, polygon, margin);
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' })
    .toBuffer();
}

async function decode(bytes: Uint8Array, pixelLimit: number, field: string): Promise<RgbImage> {
  try {
    const { width, height, pageHeight } = await sharp(bytes, { limitInputPixels: false }).metadata();
    const pixels = width * (pageHeight ?? height);
    if (pixels > pixelLimit) {
      throw new ScenedeltaError(
        'image-too-large',
        `${field} has ${width}x${pageHeight ?? height} px, expected at most ${pixelLimit} px in all`,
        { field },
      );
    }
    const { data, info } = await sharp(bytes, { failOn: 'error', limitInputPixels: pixelLimit })
      .autoOrient()
      .flatten({ background: 'black' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return {
      width: info.width,
      height: info.height,
      data: info.channels === 3 ? data : spread(data, info.channels),
    };
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    const reason = (thrown as Error).message.replace(/\s+/g, ' ');
    throw new ScenedeltaError(
      'image-unreadable',
      `${field} cannot be decoded (${reason}), expected a whole picture`,
      {
        field,
        cause: thrown,
      },
    );
  }
}

/** One channel to three. */
function spread(data: Uint8Array, channels: number): Uint8Array {
  const rgb = new Uint8Array((data.length / channels) * 3);
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3) {
    rgb.fill(data[from] as number, to, to + 3);
  }
  return rgb;
}

/**
 * Black on every pixel of which any part lies in the polygon or within `margin` px of it (in the larger of the two directions).
 * @param image is painted on
 */
export function paintPolygon({ data, width, height }: RgbImage, polygon: Polygon, margin: number): void {
  const corners = polygon.map(([x, y]): Point => [x * width, y * height]);
  const sides = corners.map((from, i): [Point, Point] => [from, corners[(i + 1) % corners.length] as Point]);
  // A pixel is met by what comes within half a pixel of its centre.
  const reach = margin + 0.5;
  for (let y = 0; y < height; y++) {
    const centre = y + 0.5;
    const paint = (from: number, to: number) => {
      const first = Math.max(0, Math.ceil(from - 0.5));
      const last = Math.min(width - 1, Math.floor(to - 0.5));
      if (first <= last) data.fill(0, (y * width + first) * 3, (y * width + last + 1) * 3);
    };
    const crossings: number[] = [];
    for (const [a, b] of sides) {
      if (a[1] <= centre !== b[1] <= centre) crossings.push(xAt(a, b, centre));
      const low = Math.max(Math.min(a[1], b[1]), centre - reach);
      const high = Math.min(Math.max(a[1], b[1]), centre + reach);
      if (low > high) continue;
      const [x1, x2] = a[1] === b[1] ? [a[0], b[0]] : [xAt(a, b, low), xAt(a, b, high)];
      paint(Math.min(x1, x2) - reach, Math.max(x1, x2) + reach);
    }
    crossings.sort((p, q) => p - q);
    for (let i = 0; i + 1 < crossings.length; i += 2)
      paint(crossings[i] as number, crossings[i + 1] as number);
  }
}

/** Where the line through two points is at height y. */
const xAt = (a: Point, b: Point, y: number): number => a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0]);
