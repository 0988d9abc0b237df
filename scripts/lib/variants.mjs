/**
 * The nuisances and the kinds of tampering of made pairs, with their strengths. Fits and benches make them on images in
 * memory (images.mjs); the pixels come from the generator of `evaluate --nuisance` (lab/figures/nuisances.ts).
 * Lengths are stated for 640 pixels of width and grow with the image. Every function takes a seeded `Random` and leaves
 * its input alone.
 */
import { seededRandom } from '../../dist/base/random.js';
import { addNoise, infrared, mapPixels, rain } from '../../dist/lab/figures/nuisances.js';
import { rollMotion, shiftMotion, zoomMotion } from './camera-view.mjs';
import { blur, jpeg } from './images.mjs';

const pixels = (image) => image.width / 640;

const BANK = 2 ** 20;
let bank = null;
/** Normal numbers, drawn once and read from random positions: drawing each afresh took longer than everything else. */
function bankOfNormals() {
  if (bank === null) {
    const random = seededRandom('grain');
    bank = Float32Array.from({ length: BANK }, () => random.normal());
  }
  return bank;
}

/**
 * Gaussian noise of `sigma` levels. Every row begins at another position of the bank, so that no noise is another one
 * shifted.
 */
export function grain(image, sigma, random, grey = false) {
  const normals = bankOfNormals();
  const perRow = grey ? image.width : 3 * image.width;
  let [at, left] = [0, 0];
  const next = () => {
    if (left === 0) [at, left] = [Math.floor(random.uniform(0, BANK - 3 * image.width)), perRow];
    left--;
    return normals[at++];
  };
  return addNoise(image, sigma, next, grey);
}

function gain(image, random) {
  const factor = 2 ** (random.sign() * random.uniform(0.4, 1));
  const tints = [0, 1, 2].map(() => random.uniform(0.93, 1.07));
  return mapPixels(image, (value, c) => value * factor * tints[c]);
}

function gamma(image, random) {
  const power = 2 ** (random.sign() * random.uniform(0.35, 0.8));
  return mapPixels(image, (value) => 255 * (value / 255) ** power);
}

/** Shadows of clouds and trees: soft darkness over parts of the frame, the rest as it was. */
function shadow(image, random) {
  const { width, height } = image;
  const cells = random.uniform(0, 1) < 0.5 ? 3 : 7;
  const field = smoothField(cells, random);
  const depth = random.uniform(0.35, 0.65);
  return mapPixels(
    image,
    (value, _, x, y) => value * (1 - depth / (1 + Math.exp(-(field(x / width, y / height) - 0.3) * 6))),
  );
}

/** A smooth random function of fractions x, y with about `cells` bumps across, values around 0 within about 2. */
function smoothField(cells, random) {
  const side = cells + 3;
  const grid = Float64Array.from({ length: side * side }, () => random.normal());
  return (x, y) => {
    const [gx, gy] = [x * cells, y * cells];
    const [x0, y0] = [Math.min(cells, Math.floor(gx)), Math.min(cells, Math.floor(gy))];
    const ease = (t) => t * t * (3 - 2 * t);
    const [fx, fy] = [ease(Math.min(1, gx - x0)), ease(Math.min(1, gy - y0))];
    const at = (i, j) => grid[(y0 + j) * side + x0 + i];
    return (at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy) + (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy;
  };
}

function nightMode(image, random) {
  const [fall, power, level] = [random.uniform(0.2, 0.55), random.uniform(-0.4, 0.4), random.uniform(0.8, 1.2)];
  const grey = infrared(image, [0.4, 0.45, 0.15], { fall, gamma: 2 ** power, level });
  return grain(grey, random.uniform(2, 6), random, true);
}

const noise = (image, random) => grain(image, random.uniform(8, 20), random);

function shower(image, random) {
  const { width, height } = image;
  const scale = pixels(image);
  const [haze, slant] = [random.uniform(0.05, 0.2), random.uniform(-0.3, 0.3)];
  const drops = Math.ceil((640 * 480) / random.uniform(350, 900));
  const streak = () => ({
    x: random.uniform(0, width),
    y: random.uniform(-0.05, 1) * height,
    length: random.uniform(7, 26) * scale,
    opacity: random.uniform(0.12, 0.45),
    thickness: random.uniform(0, 1) < 0.3 ? 2 : 1,
  });
  return rain(image, haze, slant, Array.from({ length: drops }, streak));
}

function fog(image, random) {
  const [near, far, level] = [random.uniform(0.2, 0.4), random.uniform(0.5, 0.8), random.uniform(150, 215)];
  return mapPixels(image, (value, _, __, y) => {
    const veil = far + (near - far) * (y / image.height);
    return value * (1 - veil) + level * veil;
  });
}

async function snow(image, random) {
  const { width, height } = image;
  const flakes = new Uint8Array(width * height * 3);
  for (let n = (width * height) / random.uniform(150, 500); n > 0; n--) {
    const at = (Math.floor(random.uniform(0, height)) * width + Math.floor(random.uniform(0, width))) * 3;
    flakes.fill(255, at, at + 3);
  }
  const { data } = await blur({ width, height, data: flakes }, random.uniform(0.8, 1.5) * pixels(image));
  return mapPixels(image, (value, _, __, ___, i) => {
    const opacity = Math.min(0.8, data[i] / 40);
    return value * (1 - opacity) + 235 * opacity;
  });
}

/**
 * A hand, tape, paint or cloth before the lens: near things are blurred, so the edge is soft and little texture is
 * left.
 */
function blocked(image, random) {
  const { width, height } = image;
  const share = random.uniform(0.6, 1.25);
  const angle = random.uniform(0, 2 * Math.PI);
  const soft = random.uniform(0.01, 0.06);
  const level = random.uniform(8, 210);
  const tints = [0, 1, 2].map(() => random.uniform(0.8, 1.2));
  const field = smoothField(Math.round(random.uniform(1, 9)), random);
  const contrast = random.uniform(0.02, 0.25);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const half = (Math.abs(cos) + Math.abs(sin)) / 2;
  const covered = mapPixels(image, (value, c, x, y) => {
    const along = (x / width - 0.5) * cos + (y / height - 0.5) * sin;
    const opacity = 1 / (1 + Math.exp((along + half - share * 2 * half) / soft));
    const cloth = level * tints[c] * (1 + contrast * field(x / width, y / height));
    return value * (1 - opacity) + cloth * opacity;
  });
  return grain(covered, random.uniform(0.5, 3), random);
}

const defocused = async (image, random) =>
  grain(await blur(image, random.uniform(3, 7) * pixels(image)), random.uniform(0.3, 1.5), random);

/** The lamp is off, or the lens is painted black: next to nothing is left above the noise. */
function darkened(image, random) {
  const factor = random.uniform(0, 0.07);
  const black = random.uniform(0, 12);
  return grain(
    mapPixels(image, (value) => value * factor + black),
    random.uniform(0.5, 3),
    random,
  );
}

/** name -> { nuisance, and what makes it of `after`: `make` alters the image, `motion` moves the camera } */
export const NUISANCE_VARIANTS = {
  gain: { nuisance: 'lighting', make: gain },
  gamma: { nuisance: 'lighting', make: gamma },
  ir: { nuisance: 'ir_switch', make: nightMode },
  shadow: { nuisance: 'shadow', make: shadow },
  rain: { nuisance: 'weather', make: shower },
  fog: { nuisance: 'weather', make: fog },
  snow: { nuisance: 'weather', make: snow },
  jpeg: {
    nuisance: 'compression',
    make: (image, random) => jpeg(image, Math.round(random.uniform(12, 25))),
  },
  noise: { nuisance: 'noise', make: noise },
  shift: { nuisance: 'camera_moved', motion: shiftMotion },
  roll: { nuisance: 'camera_moved', motion: rollMotion },
  zoom: { nuisance: 'camera_moved', motion: zoomMotion },
};

/** name -> { tamper, and `make` as above; or `other`: another scene; or `half`: another part of the same scene } */
export const TAMPER_VARIANTS = {
  blocked: { tamper: 'blocked', make: blocked },
  defocused: { tamper: 'defocused', make: defocused },
  darkened: { tamper: 'darkened', make: darkened },
  turned: { tamper: 'turned', other: true },
  turned_half: { tamper: 'turned', half: true },
};

export const VARIANTS = { ...NUISANCE_VARIANTS, ...TAMPER_VARIANTS };
