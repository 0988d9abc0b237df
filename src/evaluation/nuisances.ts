/**
 * The nuisances of `evaluate --nuisance`, made on the after frame of real pairs, changed and unchanged alike. The
 * strengths are those of an ordinary day outdoors; they were chosen before any captioner was measured with them.
 */
import type { RgbImage } from '../images.js';
import { type Random, seededRandom } from '../random.js';
import type { Homography } from '../viewpoint/homography.js';
import { addNoise, infrared, mapPixels, moveCamera, rain, type Streak } from './perturbations.js';

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
