/** Privacy masks: black polygons, painted on a frame before anything else reads it. */
import { sniffImage } from '../base/image-type.js';
import type { Heatmap, Preview, RgbImage, Size } from '../base/images.js';
import type { Point, Polygon } from '../base/polygon.js';
import type { PrivacyMask } from '../base/privacy-mask.js';
import { LOSSY_MARGIN } from '../base/privacy-mask.js';
import { type DecodeOptions, withFullSize } from './decode.js';
import { readDeepGrey } from './deep-grey.js';
import { tiffOf } from './grey-tiff.js';
import sharp from './sharp.js';

const LOSSLESS = ['image/png', 'image/gif'];
/** High enough that the second coding of a frame adds nothing that resembles a change. */
const QUALITY = 95;
/** Optimised Huffman tables save some bytes, and hold all coefficients in memory: 6 bytes per pixel. */
const OPTIMISED_PIXELS = 16_000_000;
/**
 * @param bytes an encoded frame
 * @returns the upright frame as a JPEG, black under the polygons; of deep grey a TIFF, with NaN under them, because no
 *   range is known yet in which a level is black. Metadata is dropped, because it may contain a thumbnail of the
 *   unmasked frame.
 * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small or processing-timeout, with `field`
 */
export async function maskFrame(
  bytes: Uint8Array,
  polygons: readonly Polygon[],
  options: Omit<DecodeOptions, 'allocate'>,
): Promise<Uint8Array> {
  const margin = LOSSLESS.includes(sniffImage(bytes, options.field)) ? 0 : LOSSY_MARGIN;
  const grey = await readDeepGrey(bytes, options);
  if (grey !== null) {
    for (const polygon of polygons) {
      fillPolygon(grey, polygon, margin, (first, end) => grey.levels.fill(Number.NaN, first, end));
    }
    return tiffOf(grey);
  }
  return withFullSize(bytes, options, async ({ data, width, height }) => {
    for (const polygon of polygons) paintPolygon({ data, width, height }, polygon, margin);
    const optimiseCoding = width * height <= OPTIMISED_PIXELS;
    return sharp(data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4', optimiseCoding })
      .toBuffer();
  });
}

/** @returns the masked frame as it is stored @throws ScenedeltaError as maskFrame */
export async function maskedFrame(
  bytes: Uint8Array,
  { id, polygons }: PrivacyMask,
  options: Omit<DecodeOptions, 'allocate'>,
): Promise<{ readonly bytes: Uint8Array; readonly contentType: string; readonly mask: string }> {
  const masked = await maskFrame(bytes, polygons, options);
  return { bytes: masked, contentType: sniffImage(masked, options.field), mask: id };
}

/**
 * Paints every pixel black of which any part lies in the polygon or within `margin` px of it (maximum of both axes).
 * @param image is changed
 */
export function paintPolygon({ data, width, height }: RgbImage, polygon: Polygon, margin: number): void {
  fillPolygon({ width, height }, polygon, margin, (first, end) => data.fill(0, first * 3, end * 3));
}

/**
 * @param mask that of the camera now; null: nothing is hidden
 * @returns the map with 0 in each cell of which any part lies in a polygon: an outline would show what a zone hides
 */
export function maskedMap(map: Heatmap, mask: PrivacyMask | null): Heatmap {
  if (mask === null) return map;
  const data = map.data.slice();
  for (const polygon of mask.polygons) fillPolygon(map, polygon, 0, (first, end) => data.fill(0, first, end));
  return { ...map, data };
}

/** Level of a plane of colour without colour. */
const COLOURLESS = 128;

/**
 * Paints a preview black as paintPolygon does a picture, with the margin of lossy formats.
 * @param preview is changed
 */
export function paintPreview({ luma, chroma, width, height, source }: Preview, polygon: Polygon): void {
  // A pixel of a plane is a mean of several of the source; resizing reaches one farther.
  const marginOf = (plane: Size) => Math.ceil((LOSSY_MARGIN * plane.width) / source.width) + 1;
  const size = { width, height };
  fillPolygon(size, polygon, marginOf(size), (first, end) => luma.fill(0, first, end));
  if (chroma === undefined) return;
  const half = { width: Math.floor(width / 2), height: Math.floor(height / 2) };
  fillPolygon(half, polygon, marginOf(half), (first, end) => {
    chroma.blue.fill(COLOURLESS, first, end);
    chroma.red.fill(COLOURLESS, first, end);
  });
}

/** @param fill gets the index of the first pixel of a part of a row, row-major, and that after its last */
function fillPolygon(
  { width, height }: Size,
  polygon: Polygon,
  margin: number,
  fill: (first: number, end: number) => void,
): void {
  const corners = polygon.map(([x, y]): Point => [x * width, y * height]);
  const sides = corners.map((from, i): [Point, Point] => [from, corners[(i + 1) % corners.length] as Point]);
  // A line touches a pixel if it comes within half a pixel of the pixel's centre.
  const reach = margin + 0.5;
  for (let y = 0; y < height; y++) {
    const centre = y + 0.5;
    const paint = (from: number, to: number) => {
      const first = Math.max(0, Math.ceil(from - 0.5));
      const last = Math.min(width - 1, Math.floor(to - 0.5));
      if (first <= last) fill(y * width + first, y * width + last + 1);
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
    for (let i = 0; i + 1 < crossings.length; i += 2) paint(crossings[i] as number, crossings[i + 1] as number);
  }
}

/** @returns the x at which the line through two points has this y */
const xAt = (a: Point, b: Point, y: number): number => a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0]);
