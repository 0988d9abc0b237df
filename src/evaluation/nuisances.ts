/**
 * Nuisances made on the after frame of real pairs, changed and unchanged alike: what a camera meets without anything having
 * changed. The strengths are those of an ordinary day outdoors, chosen before any captioner was measured with them.
 */
import type { Box, RgbImage } from '../images.js';
import { type Random, seededRandom } from './random.js';

export const MADE_NUISANCES = ['light', 'ir', 'jitter', 'rain', 'noise', 'jpeg'] as const;
export type MadeNuisance = (typeof MADE_NUISANCES)[number];

export interface Perturbed {
  readonly image: RgbImage;
  /** to be encoded at this JPEG quality; null: without loss */
  readonly jpegQuality: number | null;
  /** where each point went, row-major 3x3 on normalised coordinates; null: nowhere */
  readonly homography: Homography | null;
}
export type Homography = readonly [number, number, number, number, number, number, number, number, number];

/** The input is left alone. The same id gives the same picture. */
export function perturb(nuisance: MadeNuisance, image: RgbImage, id: string): Perturbed {
  const random = seededRandom(`${nuisance} ${id}`);
  const still = { jpegQuality: null, homography: null };
  switch (nuisance) {
    case 'light':
      return { ...still, image: relight(image, random) };
    case 'ir':
      return { ...still, image: infrared(image, random) };
    case 'jitter': {
      const homography = shake(image, random);
      return { ...still, image: warp(image, homography), homography };
    }
    case 'rain':
      return { ...still, image: rain(image, random) };
    case 'noise':
      return { ...still, image: grain(image, random.uniform(10, 20), random) };
    case 'jpeg':
      return { ...still, image, jpegQuality: Math.round(random.uniform(12, 25)) };
  }
}

/** Another exposure and white balance, and a cloud's soft shadow over one side. */
function relight(image: RgbImage, random: Random): RgbImage {
  const exposure = 2 ** (random.sign() * random.uniform(0.35, 0.8));
  const gamma = random.uniform(0.85, 1.18);
  const gains = [0, 1, 2].map(() => exposure * random.uniform(0.94, 1.06));
  const [edge, depth, direction] = [random.uniform(0.3, 0.7), random.uniform(0, 0.35), random.sign()];
  return mapPixels(image, (value, channel, x) => {
    const shadow = 1 - depth / (1 + Math.exp((-direction * (x / image.width - edge)) / 0.06));
    return 255 * Math.min(1, (value / 255) ** gamma * (gains[channel] as number) * shadow);
  });
}

/** Night mode: no colour, light from beside the lens that falls off to the corners, more noise. */
function infrared(image: RgbImage, random: Random): RgbImage {
  const vignette = random.uniform(0.25, 0.55);
  const gamma = random.uniform(0.8, 1.2);
  const { width, height, data } = image;
  const grey = mapPixels(image, (_, __, x, y) => {
    const i = (y * width + x) * 3;
    const luma =
      0.299 * (data[i] as number) + 0.587 * (data[i + 1] as number) + 0.114 * (data[i + 2] as number);
    const radius2 = (((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 4) / 2;
    return 255 * (luma / 255) ** gamma * (1 - vignette * radius2);
  });
  return grain(grey, random.uniform(3, 8), random, true);
}

/** Gaussian noise of `sigma` levels; `grey` adds the same to all channels. */
function grain(image: RgbImage, sigma: number, random: Random, grey = false): RgbImage {
  let shared = 0;
  return mapPixels(image, (value, channel) => {
    if (!grey || channel === 0) shared = random.normal() * sigma;
    return value + shared;
  });
}

/** A gust at the pole: a shift of up to 1.2 % of the frame's width, a turn of up to 0.7 degrees, a little zoom. */
function shake({ width, height }: RgbImage, random: Random): Homography {
  const angle = (random.uniform(-0.7, 0.7) * Math.PI) / 180;
  const zoom = random.uniform(0.99, 1.015);
  const [dx, dy] = [random.uniform(-0.012, 0.012), (random.uniform(-0.012, 0.012) * width) / height];
  const [tiltX, tiltY] = [random.uniform(-0.006, 0.006), random.uniform(-0.006, 0.006)];
  const [cos, sin, ratio] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom, height / width];
  // Turned and zoomed about the centre; the ratio keeps the turn a turn in coordinates that are fractions of the frame.
  const [a, b, d, e] = [cos, -sin * ratio, sin / ratio, cos];
  return [
    a,
    b,
    0.5 - 0.5 * (a + b) + dx,
    d,
    e,
    0.5 - 0.5 * (d + e) + dy,
    tiltX,
    tiltY,
    1 - (tiltX + tiltY) / 2,
  ];
}

/** Bright slanted streaks, shorter than a second's exposure would make them, under a slightly milky air. */
function rain(image: RgbImage, random: Random): RgbImage {
  const { width, height } = image;
  const haze = random.uniform(0.08, 0.2);
  const data = mapPixels(image, (value) => value * (1 - haze) + 165 * haze).data;
  const slant = random.uniform(-0.2, 0.2);
  const drops = Math.round((width * height) / random.uniform(500, 900));
  for (let drop = 0; drop < drops; drop++) {
    const [x0, y0] = [random.uniform(0, width), random.uniform(-0.05, 1) * height];
    const length = random.uniform(0.015, 0.05) * height;
    const opacity = random.uniform(0.12, 0.4);
    for (let step = 0; step < length; step++) {
      const [x, y] = [Math.floor(x0 + slant * step), Math.floor(y0 + step)];
      if (x < 0 || x >= width || y < 0 || y >= height) continue;
      for (let i = (y * width + x) * 3, end = i + 3; i < end; i++) {
        data[i] = Math.round((data[i] as number) * (1 - opacity) + 215 * opacity);
      }
    }
  }
  return { width, height, data };
}

function mapPixels(
  { width, height, data }: RgbImage,
  change: (value: number, channel: number, x: number, y: number) => number,
): RgbImage {
  const out = new Uint8Array(data.length);
  let i = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++, i++) {
        out[i] = Math.min(255, Math.max(0, Math.round(change(data[i] as number, c, x, y))));
      }
    }
  }
  return { width, height, data: out };
}

export function project(h: Homography, x: number, y: number): [number, number] {
  const w = h[6] * x + h[7] * y + h[8];
  return [(h[0] * x + h[1] * y + h[2]) / w, (h[3] * x + h[4] * y + h[5]) / w];
}

/** The box around where a box went, cut at the frame; null where nothing of it is left. */
export function moveBox(box: Box, homography: Homography): Box | null {
  const corners = [0, 1, 2, 3].map((i) =>
    project(homography, box.x + (i % 2) * box.width, box.y + Math.floor(i / 2) * box.height),
  );
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  const [x0, x1] = [clamp(Math.min(...corners.map(([x]) => x))), clamp(Math.max(...corners.map(([x]) => x)))];
  const [y0, y1] = [
    clamp(Math.min(...corners.map(([, y]) => y))),
    clamp(Math.max(...corners.map(([, y]) => y))),
  ];
  return x1 > x0 && y1 > y0 ? { x: x0, y: y0, width: x1 - x0, height: y1 - y0 } : null;
}

/** Bilinear; beyond the frame its edge is repeated. */
export function warp(image: RgbImage, homography: Homography): RgbImage {
  const { width, height, data } = image;
  const back = invert(homography);
  const out = new Uint8Array(data.length);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 3) {
      const [u, v] = project(back, (x + 0.5) / width, (y + 0.5) / height);
      const sx = Math.min(width - 1, Math.max(0, u * width - 0.5));
      const sy = Math.min(height - 1, Math.max(0, v * height - 0.5));
      const [x0, y0] = [Math.floor(sx), Math.floor(sy)];
      const [x1, y1] = [Math.min(width - 1, x0 + 1), Math.min(height - 1, y0 + 1)];
      const [fx, fy] = [sx - x0, sy - y0];
      for (let c = 0; c < 3; c++) {
        const at = (px: number, py: number): number => data[(py * width + px) * 3 + c] as number;
        const top = at(x0, y0) * (1 - fx) + at(x1, y0) * fx;
        const bottom = at(x0, y1) * (1 - fx) + at(x1, y1) * fx;
        out[i + c] = Math.round(top * (1 - fy) + bottom * fy);
      }
    }
  }
  return { width, height, data: out };
}

/** By cofactors; the scale of a homography is free, so that no determinant is needed. */
function invert([a, b, c, d, e, f, g, h, i]: Homography): Homography {
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ];
}
