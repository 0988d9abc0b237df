/** Planes of a part of a frame at several resolutions, and their gradients. The loops run per pixel: no allocation. */
import type { RgbImage } from '../../base/images.js';
import { halved, type Plane, plane } from '../planes.js';
import { lumaOfSquares, type Part } from '../squares.js';

/** `data` is the size of the gradient in levels per pixel of the finest plane; 0 at the border. */
export interface Gradient extends Plane {
  readonly dx: Float32Array;
  readonly dy: Float32Array;
}

/** Mean luma of each square, levels. */
export function lumaOf(image: RgbImage, part: Part): Plane {
  const out = plane(part);
  const weights = { red: 299, green: 587, blue: 114, share: 1 / (1000 * part.step * part.step) };
  lumaOfSquares(image, part, weights, out.data);
  return out;
}

/** The largest of 2 x 2 values. */
export function largest({ width, height, data }: Plane): Plane {
  const out = plane({ width: width >> 1, height: height >> 1 });
  let i = 0;
  for (let y = 0; y < out.height; y++) {
    let at = 2 * y * width;
    for (let x = 0; x < out.width; x++) {
      const below = at + width;
      let most = data[at] as number;
      if ((data[at + 1] as number) > most) most = data[at + 1] as number;
      if ((data[below] as number) > most) most = data[below] as number;
      if ((data[below + 1] as number) > most) most = data[below + 1] as number;
      out.data[i++] = most;
      at += 2;
    }
  }
  return out;
}

/** The largest of the 3 x 3 values around each. */
export function aroundEach({ width, height, data }: Plane): Plane {
  const rows = plane({ width, height }).data;
  const out = plane({ width, height }).data;
  for (let i = 0; i < data.length; i++) {
    let most = data[i] as number;
    if (i % width > 0 && (data[i - 1] as number) > most) most = data[i - 1] as number;
    if ((i + 1) % width > 0 && (data[i + 1] as number) > most) most = data[i + 1] as number;
    rows[i] = most;
  }
  for (let i = 0; i < data.length; i++) {
    let most = rows[i] as number;
    if (i >= width && (rows[i - width] as number) > most) most = rows[i - width] as number;
    if (i + width < data.length && (rows[i + width] as number) > most) most = rows[i + width] as number;
    out[i] = most;
  }
  return { width, height, data: out };
}

/** Central differences. @param pixels of the finest plane per value */
function gradientOf({ width, height, data }: Plane, pixels: number): Gradient {
  const [dx, dy, size] = [0, 1, 2].map(() => plane({ width, height }).data) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const share = 1 / (2 * pixels);
  for (let y = 1; y < height - 1; y++) {
    const end = (y + 1) * width - 1;
    for (let i = y * width + 1; i < end; i++) {
      const u = ((data[i + 1] as number) - (data[i - 1] as number)) * share;
      const v = ((data[i + width] as number) - (data[i - width] as number)) * share;
      dx[i] = u;
      dy[i] = v;
      size[i] = Math.sqrt(u * u + v * v);
    }
  }
  return { width, height, data: size, dx, dy };
}

/** The gradients at steps of 1, 2, 4 and 8 values of the plane. */
export type Scales = readonly [Gradient, Gradient, Gradient, Gradient];

export function scalesOf(plane: Plane): Scales {
  const two = halved(plane);
  const four = halved(two);
  return [gradientOf(plane, 1), gradientOf(two, 2), gradientOf(four, 4), gradientOf(halved(four), 8)];
}
