/** Frames made when they are needed, with all that registration needs: edges, corners, flat places. */

import { type moveBox, warp } from '../../src/evaluation/nuisances.js';
import { seededRandom } from '../../src/evaluation/random.js';
import type { RgbImage } from '../../src/images.js';
import type { Homography } from '../../src/viewpoint/homography.js';

export const size = { width: 480, height: 360 };

/** Walls, windows and boxes: overlapping rectangles of many sizes and colours on a gradient. */
export function street(seed: string, { width, height } = size): RgbImage {
  const random = seededRandom(seed);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 3) data.fill(70 + (60 * y) / height, i, i + 3);
  }
  for (let n = 0; n < 220; n++) {
    const [w, h] = [random.uniform(6, 70), random.uniform(6, 60)];
    const [left, top] = [random.uniform(-10, width), random.uniform(-10, height)];
    const colour = [0, 1, 2].map(() => random.uniform(20, 230));
    for (let y = Math.max(0, top | 0); y < Math.min(height, top + h); y++) {
      for (let x = Math.max(0, left | 0); x < Math.min(width, left + w); x++) {
        data.set(colour, (y * width + x) * 3);
      }
    }
  }
  return { width, height, data };
}

export const flat = (level: number, { width, height } = size): RgbImage => ({
  width,
  height,
  data: new Uint8Array(width * height * 3).fill(level),
});

/** Every value changed on its own; rounded and kept within 0..255. */
export function altered(image: RgbImage, change: (value: number, index: number) => number): RgbImage {
  const data = Uint8ClampedArray.from(image.data, (value, i) => change(value, i));
  return { ...image, data: new Uint8Array(data.buffer) };
}

export function noisy(image: RgbImage, sigma: number, seed: string): RgbImage {
  const random = seededRandom(seed);
  return altered(image, (value) => value + sigma * random.normal());
}

/** The middle of `image` as a camera sees it that was shifted (pixels), rolled (degrees) and zoomed, and the true homography. */
export function seen(
  image: RgbImage,
  { x = 0, y = 0, degrees = 0, zoom = 1 } = {},
): { image: RgbImage; homography: Homography } {
  const { width, height } = image;
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom];
  const [b, d] = [(-sin * height) / width, (sin * width) / height];
  const homography: Homography = [
    cos,
    b,
    0.5 - 0.5 * (cos + b) + x / width,
    d,
    cos,
    0.5 - 0.5 * (d + cos) + y / height,
    0,
    0,
    1,
  ];
  return { image: warp(image, homography), homography };
}

/** A thing of one colour, at fractions of the frame. */
export function withBox(image: RgbImage, box: Parameters<typeof moveBox>[0], colour: number[]): RgbImage {
  const data = image.data.slice();
  const { width, height } = image;
  for (let y = Math.round(box.y * height); y < (box.y + box.height) * height; y++) {
    for (let x = Math.round(box.x * width); x < (box.x + box.width) * width; x++)
      data.set(colour, (y * width + x) * 3);
  }
  return { width, height, data };
}
