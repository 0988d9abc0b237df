/**
 * Outline of a heatmap over its frame: thin lines with a light tint, so that the thing inside stays visible. The image
 * library could rasterise SVG, but its decoder is blocked (frames/sharp.ts), because senders of frames could use it.
 */
import type { Heatmap, RgbImage } from '../base/images.js';
import { outlineOf, type Point, type Ring } from './contour.js';

type Colour = readonly [red: number, green: number, blue: number];
/** A hue that is rare in scenes; the dark line under it keeps it visible on bright ground. */
const LINE: Colour = [47, 230, 255];
const CASING: Colour = [0, 26, 32];
const CASING_OPACITY = 0.55;
const TINT_OPACITY = 0.1;
/** Width of the line, as a share of the longer side of the frame: 2 px at 1280. */
const LINE_SHARE = 1 / 640;
/** No pixel is as far from a line. */
const FAR = Number.POSITIVE_INFINITY;
/** In pixels. */
const LEAST_LINE = 1.5;

/** @returns `frame` with the outline of the map; pixels outside of it do not change */
export function renderOutline(map: Heatmap, frame: RgbImage): RgbImage {
  const { width, height } = frame;
  const rings = outlineOf(map).map((ring) => ring.map(([x, y]): Point => [x * width, y * height]));
  const picture = { width, height, data: Uint8Array.from(frame.data) };
  tintInside(rings, picture);
  const line = Math.max(LEAST_LINE, Math.max(width, height) * LINE_SHARE);
  // Beside the line there is as much casing again, half of it on each side.
  for (const [pixel, distance] of distances(rings, picture, line + 1)) {
    blend(picture, pixel, CASING, CASING_OPACITY * coverage(distance, line));
    blend(picture, pixel, LINE, coverage(distance, line / 2));
  }
  return picture;
}

/** Share of a pixel that a line of this half width covers at this distance of their middles. */
const coverage = (distance: number, half: number): number => Math.min(Math.max(half + 0.5 - distance, 0), 1);

function blend({ data }: RgbImage, pixel: number, colour: Colour, opacity: number): void {
  for (let channel = 0; channel < 3; channel++) {
    const at = pixel * 3 + channel;
    const under = data[at] as number;
    data[at] = under + opacity * ((colour[channel] as number) - under) + 0.5;
  }
}

/** Tints the pixels whose middle lies inside an odd number of rings. */
function tintInside(rings: readonly Ring[], picture: RgbImage): void {
  const { width, height } = picture;
  const crossings: number[][] = Array.from({ length: height }, () => []);
  for (const [a, b] of segmentsOf(rings)) {
    const [low, high] = a[1] < b[1] ? [a, b] : [b, a];
    for (let y = Math.ceil(low[1] - 0.5); y < Math.ceil(high[1] - 0.5); y++) {
      crossings[y]?.push(low[0] + ((y + 0.5 - low[1]) / (high[1] - low[1])) * (high[0] - low[0]));
    }
  }
  for (const [y, row] of crossings.entries()) {
    row.sort((a, b) => a - b);
    for (let i = 0; i + 1 < row.length; i += 2) {
      const end = Math.min(Math.ceil((row[i + 1] as number) - 0.5), width);
      for (let x = Math.ceil((row[i] as number) - 0.5); x < end; x++) {
        blend(picture, y * width + x, LINE, TINT_OPACITY);
      }
    }
  }
}

/** Yields the pixels nearer to a ring than `most`, each as its index and its distance in pixels. */
function* distances(
  rings: readonly Ring[],
  { width, height }: RgbImage,
  most: number,
): Generator<readonly [number, number]> {
  const nearest = new Float32Array(width * height).fill(FAR);
  const near: number[] = [];
  for (const [a, b] of segmentsOf(rings)) {
    const [left, right] = [Math.min(a[0], b[0]) - most, Math.max(a[0], b[0]) + most];
    const [top, bottom] = [Math.min(a[1], b[1]) - most, Math.max(a[1], b[1]) + most];
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(height, bottom); y++) {
      for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, right); x++) {
        const distance = distanceTo([x + 0.5, y + 0.5], a, b);
        const pixel = y * width + x;
        const earlier = nearest[pixel] as number;
        if (distance >= most || distance >= earlier) continue;
        if (earlier === FAR) near.push(pixel);
        nearest[pixel] = distance;
      }
    }
  }
  for (const pixel of near) yield [pixel, nearest[pixel] as number];
}

function distanceTo([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / length, 0), 1);
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

function* segmentsOf(rings: readonly Ring[]): Generator<readonly [Point, Point]> {
  for (const ring of rings) {
    for (const [i, point] of ring.entries()) yield [point, ring[(i + 1) % ring.length] as Point];
  }
}
