/**
 * The nuisances of `evaluate --nuisance`, made on the after frame of real pairs, changed and unchanged alike. The
 * strengths are those of an ordinary day outdoors; they were chosen before any captioner was measured with them.
 */
import type { RgbImage } from '../../src/base/images.js';
import { type Random, seededRandom } from '../../src/base/random.js';
import { type Homography, invert, project } from '../../src/viewpoint/homography.js';

export const MADE_NUISANCES = ['light', 'ir', 'jitter', 'rain', 'noise', 'jpeg'] as const;
export type MadeNuisance = (typeof MADE_NUISANCES)[number];

interface Perturbed {
  readonly image: RgbImage;
  /** quality of the JPEG to encode it as; null: without loss */
  readonly jpegQuality: number | null;
  /** from the given frame to the perturbed one, in fractions; null: nothing moved */
  readonly homography: Homography | null;
}

/** Leaves its input alone. The same id gives the same pixels. */
export function perturb(nuisance: MadeNuisance, image: RgbImage, id: string): Perturbed {
  const random = seededRandom(`${nuisance} ${id}`);
  const still = { jpegQuality: null, homography: null };
  switch (nuisance) {
    case 'light':
      return { ...still, image: otherLight(image, random) };
    case 'ir':
      return { ...still, image: nightMode(image, random) };
    case 'jitter': {
      const homography = gust(image, random);
      return { ...still, image: moveCamera(image, homography), homography };
    }
    case 'rain':
      return { ...still, image: shower(image, random) };
    case 'noise':
      return { ...still, image: addNoise(image, random.uniform(10, 20), random.normal) };
    case 'jpeg':
      return { ...still, image, jpegQuality: Math.round(random.uniform(12, 25)) };
  }
}

/** Another exposure and white balance, and the soft shadow of a cloud over one side. */
function otherLight(image: RgbImage, random: Random): RgbImage {
  const exposure = 2 ** (random.sign() * random.uniform(0.35, 0.8));
  const gamma = random.uniform(0.85, 1.18);
  const gains = [0, 1, 2].map(() => exposure * random.uniform(0.94, 1.06));
  const [edge, depth, direction] = [random.uniform(0.3, 0.7), random.uniform(0, 0.35), random.sign()];
  return mapPixels(image, (value, channel, x) => {
    const shadow = 1 - depth / (1 + Math.exp((-direction * (x / image.width - edge)) / 0.06));
    return 255 * Math.min(1, (value / 255) ** gamma * (gains[channel] as number) * shadow);
  });
}

function nightMode(image: RgbImage, random: Random): RgbImage {
  const [fall, gamma] = [random.uniform(0.25, 0.55), random.uniform(0.8, 1.2)];
  const grey = infrared(image, [0.299, 0.587, 0.114], { fall, gamma });
  return addNoise(grey, random.uniform(3, 8), random.normal, true);
}

/** A shift of up to 1.2 % of the frame's width, a turn of up to 0.7 degrees, and a little zoom. */
function gust({ width, height }: RgbImage, random: Random): Homography {
  const angle = (random.uniform(-0.7, 0.7) * Math.PI) / 180;
  const zoom = random.uniform(0.99, 1.015);
  const [dx, dy] = [random.uniform(-0.012, 0.012), (random.uniform(-0.012, 0.012) * width) / height];
  const [tiltX, tiltY] = [random.uniform(-0.006, 0.006), random.uniform(-0.006, 0.006)];
  const [cos, sin, ratio] = [Math.cos(angle) * zoom, Math.sin(angle) * zoom, height / width];
  // Turned and zoomed about the centre; the ratio keeps the turn a turn in coordinates that are fractions of the frame.
  const [a, b, d, e] = [cos, -sin * ratio, sin / ratio, cos];
  const [c, f] = [0.5 - 0.5 * (a + b) + dx, 0.5 - 0.5 * (d + e) + dy];
  const w = 1 - (tiltX + tiltY) / 2;
  return [a / w, b / w, c / w, d / w, e / w, f / w, tiltX / w, tiltY / w, 1];
}

/** Slanted streaks under a slightly milky air. */
function shower(image: RgbImage, random: Random): RgbImage {
  const { width, height } = image;
  const [haze, slant] = [random.uniform(0.08, 0.2), random.uniform(-0.2, 0.2)];
  const drops = Math.round((width * height) / random.uniform(500, 900));
  const streak = (): Streak => ({
    x: random.uniform(0, width),
    y: random.uniform(-0.05, 1) * height,
    length: random.uniform(0.015, 0.05) * height,
    opacity: random.uniform(0.12, 0.4),
    thickness: 1,
  });
  return rain(image, haze, slant, Array.from({ length: drops }, streak));
}

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
interface Streak {
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
