/**
 * Generator of nuisances: alterations of a frame of an unchanged scene. `evaluate
 * --nuisance` (nuisances.ts) and the made pairs of fits and benches (scripts/lib/variants.mjs) draw the strengths and
 * share the pixels. Every function returns a new image.
 */
import type { RgbImage } from '../images.js';
import { type Homography, invert, project } from '../viewpoint/homography.js';

/**
 * Applies `change` to each value, rounded and limited to 0..255.
 * @param change gets the value (0..255), its channel (0..2), its column and row, and its index in `data`
 */
export function mapPixels(
  { width, height, data }: RgbImage,
  change: (value: number, channel: number, x: number, y: number, index: number) => number,
): RgbImage {
  const out = new Uint8Array(data.length);
  let i = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++, i++) {
        out[i] = Math.min(255, Math.max(0, Math.round(change(data[i] as number, c, x, y, i))));
      }
    }
  }
  return { width, height, data: out };
}

/**
 * Gaussian noise.
 * @param sigma standard deviation, levels
 * @param normal draws a standard normal number
 * @param grey adds the same number to all channels of a pixel
 */
export function addNoise(image: RgbImage, sigma: number, normal: () => number, grey = false): RgbImage {
  let noise = 0;
  return mapPixels(image, (value, channel) => {
    if (!grey || channel === 0) noise = sigma * normal();
    return value + noise;
  });
}

/**
 * Night mode: no colour, and light from beside the lens that falls off to the corners.
 * @param sensitivity weights of red, green and blue
 * @param fall share of the light that the corners lack
 */
export function infrared(
  image: RgbImage,
  sensitivity: readonly [number, number, number],
  { fall, gamma, level = 1 }: { readonly fall: number; readonly gamma: number; readonly level?: number },
): RgbImage {
  const { width, height, data } = image;
  const [red, green, blue] = sensitivity;
  return mapPixels(image, (_, channel, x, y, index) => {
    const at = index - channel;
    const luma = red * (data[at] as number) + green * (data[at + 1] as number) + blue * (data[at + 2] as number);
    const radius2 = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2;
    return 255 * level * (luma / 255) ** gamma * (1 - fall * radius2);
  });
}

/** One drop of rain: where it begins and how far it falls during the exposure, pixels. */
export interface Streak {
  readonly x: number;
  readonly y: number;
  readonly length: number;
  /** 0..1 */
  readonly opacity: number;
  /** 1 or 2 pixels */
  readonly thickness: number;
}

/**
 * Bright streaks under a milky air.
 * @param haze share of the light that the air adds, 0..1
 * @param slant columns per row
 */
export function rain(image: RgbImage, haze: number, slant: number, streaks: Iterable<Streak>): RgbImage {
  const { width, height } = image;
  const hazy = mapPixels(image, (value) => value * (1 - haze) + 165 * haze);
  const { data } = hazy;
  for (const { x: x0, y: y0, length, opacity, thickness } of streaks) {
    for (let step = 0; step < length * thickness; step++) {
      const x = Math.floor(x0 + (slant * step) / thickness) + (step % thickness);
      const y = Math.floor(y0 + step / thickness);
      if (x < 0 || x >= width || y < 0 || y >= height) continue;
      for (let i = (y * width + x) * 3, end = i + 3; i < end; i++) {
        data[i] = Math.round((data[i] as number) * (1 - opacity) + 215 * opacity);
      }
    }
  }
  return hazy;
}

/**
 * The frame of a camera that moved (bilinear; the frame's edge is repeated beyond it).
 * @param homography from the frame to the moved one, both in fractions
 * @throws RangeError if the homography has no inverse
 */
export function moveCamera(image: RgbImage, homography: Homography): RgbImage {
  const { width, height, data } = image;
  const back = invert(homography);
  if (back === null) throw new RangeError(`homography ${homography.join(' ')} has no inverse`);
  const at = (x: number, y: number, channel: number) => data[(y * width + x) * 3 + channel] as number;
  const clamp = (value: number, last: number) => Math.min(last, Math.max(0, value));
  return mapPixels(image, (_, channel, x, y) => {
    const { x: u, y: v } = project(back, (x + 0.5) / width, (y + 0.5) / height);
    const [sx, sy] = [clamp(u * width - 0.5, width - 1), clamp(v * height - 0.5, height - 1)];
    const [x0, y0] = [Math.floor(sx), Math.floor(sy)];
    const [x1, y1] = [Math.min(width - 1, x0 + 1), Math.min(height - 1, y0 + 1)];
    const [fx, fy] = [sx - x0, sy - y0];
    const top = at(x0, y0, channel) * (1 - fx) + at(x1, y0, channel) * fx;
    return top * (1 - fy) + (at(x0, y1, channel) * (1 - fx) + at(x1, y1, channel) * fx) * fy;
  });
}
