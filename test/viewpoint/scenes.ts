/** Synthetic frames with edges, corners and flat areas, for tests of registration. */
import type { Box, RgbImage } from '../../src/base/images.js';
import { seededRandom } from '../../src/base/random.js';
import type { Homography } from '../../src/viewpoint/homography.js';

export const size = { width: 400, height: 300 };

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

/** Applies `change` to each value; rounds and limits to 0..255. */
export function altered(image: RgbImage, change: (value: number, index: number) => number): RgbImage {
  const data = Uint8ClampedArray.from(image.data, (value, i) => change(value, i));
  return { ...image, data: new Uint8Array(data.buffer) };
}

/** Normal numbers, drawn once because drawing is slow. */
const NORMALS = (() => {
  const random = seededRandom('noise');
  return Float32Array.from({ length: 60_013 }, () => random.normal());
})();

/**
 * Gaussian noise of `sigma` levels; each row starts at another place of the drawn numbers, so that no two noises are
 * one shifted.
 */
export function noisy(image: RgbImage, sigma: number, seed: string): RgbImage {
  const random = seededRandom(seed);
  const normals = NORMALS;
  const stride = image.width * 3;
  let at = 0;
  return altered(image, (value, i) => {
    if (i % stride === 0) at = floor(random.uniform(0, normals.length - stride));
    return value + sigma * (normals[at++] as number);
  });
}

// In jest's sandbox every use of a global costs a look-up, which is slow in loops over pixels.
const { floor, max, min } = Math;

/** The view of a camera that was shifted (pixels), rolled (degrees) and zoomed, and the true homography. */
export function seen(
  image: RgbImage,
  { x = 0, y = 0, degrees = 0, zoom = 1 } = {},
): { image: RgbImage; homography: Homography } {
  const { width, height } = image;
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom];
  const [e, f] = [width / 2 + x - (cos * width - sin * height) / 2, height / 2 + y - (sin * width + cos * height) / 2];
  const square = zoom * zoom;
  const out = sampled(image, (u, v) => {
    const [du, dv] = [u - e, v - f];
    return [(cos * du + sin * dv) / square, (cos * dv - sin * du) / square];
  });
  const homography: Homography = [
    cos,
    (-sin * height) / width,
    e / width,
    (sin * width) / height,
    cos,
    f / height,
    0,
    0,
    1,
  ];
  return { image: out, homography };
}

/**
 * `image` as a camera sees it that was turned to the right on a level mast, with a lens as long as the frame is wide.
 */
export function panned(image: RgbImage, degrees: number): RgbImage {
  const { width, height } = image;
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return sampled(image, (u, v) => {
    const [x, y] = [u / width - 0.5, (v - height / 2) / width];
    const depth = cos - x * sin;
    return [((x * cos + sin) / depth + 0.5) * width, (y / depth) * width + height / 2];
  });
}

/**
 * @param from where a point of the picture was before, in pixels from the top left corner; beyond the edge, the edge
 *   is repeated
 */
function sampled(
  { width, height, data }: RgbImage,
  from: (u: number, v: number) => readonly [number, number],
): RgbImage {
  const out = new Uint8Array(data.length);
  for (let v = 0, to = 0; v < height; v++) {
    for (let u = 0; u < width; u++, to += 3) {
      const [x, y] = from(u + 0.5, v + 0.5);
      const px = min(width - 1.001, max(0, x - 0.5));
      const py = min(height - 1.001, max(0, y - 0.5));
      const [x0, y0] = [floor(px), floor(py)];
      const [fx, fy] = [px - x0, py - y0];
      const i = (y0 * width + x0) * 3;
      for (let c = i; c < i + 3; c++) {
        const top = (data[c] as number) * (1 - fx) + (data[c + 3] as number) * fx;
        const low = c + width * 3;
        const bottom = (data[low] as number) * (1 - fx) + (data[low + 3] as number) * fx;
        out[to + c - i] = top * (1 - fy) + bottom * fy + 0.5;
      }
    }
  }
  return { width, height, data: out };
}

/** Draws a box of one colour. @param box in fractions of the frame */
export function withBox(image: RgbImage, box: Box, colour: number[]): RgbImage {
  const data = image.data.slice();
  const { width, height } = image;
  for (let y = Math.round(box.y * height); y < (box.y + box.height) * height; y++) {
    for (let x = Math.round(box.x * width); x < (box.x + box.width) * width; x++) data.set(colour, (y * width + x) * 3);
  }
  return { width, height, data };
}

/** Defocus: three box blurs of `radius` pixels. */
export function softened(image: RgbImage, radius: number): RgbImage {
  const { width, height } = image;
  const across = (data: Uint8Array, step: number, limit: (i: number) => number) =>
    Uint8Array.from(data, (_, i) => {
      const at = limit(i);
      let [sum, count] = [0, 0];
      for (let k = -radius; k <= radius; k++) {
        if (at + k < 0 || at + k >= (step === 3 ? width : height)) continue;
        sum += data[i + k * step] as number;
        count++;
      }
      return sum / count + 0.5;
    });
  let { data } = image;
  for (let pass = 0; pass < 3; pass++) {
    data = across(data, 3, (i) => floor(i / 3) % width);
    data = across(data, 3 * width, (i) => floor(i / 3 / width));
  }
  return { width, height, data };
}
