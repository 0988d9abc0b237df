/**
 * What happens to a camera without anything happening in its scene, and what people do to cameras, made on pictures in
 * memory: `{ width, height, data }`, 8-bit RGB. Lengths are for frames of 640 px width and grow with the frame. Every make
 * takes a seeded random source (src/evaluation/random.ts), and leaves its input alone.
 */
import sharp from 'sharp';
import { seededRandom } from '../../dist/evaluation/random.js';

/** Kept free around a view, so that a moved camera sees real pixels at its edges: fraction of the frame's width, each side. */
export const MARGIN = 0.075;

const raw = ({ width, height, data }) => sharp(data, { raw: { width, height, channels: 3 } });

async function pixels(picture) {
  const { data, info } = await picture
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** @param {Uint8Array | string} source encoded picture or its path @returns at most `width` wide */
export const load = (source, width) =>
  pixels(sharp(source).autoOrient().resize({ width, withoutEnlargement: true, kernel: 'linear' }));

/** @returns {Promise<Buffer>} encoded without loss */
export const encode = (image) => raw(image).png({ compressionLevel: 1 }).toBuffer();

export const jpeg = async (image, quality, chromaSubsampling = '4:2:0') =>
  pixels(sharp(await raw(image).jpeg({ quality, chromaSubsampling }).toBuffer()));
export const blur = (image, sigma) => pixels(raw(image).blur(sigma));

export const resized = async (image, { width, height }) =>
  image.width === width && image.height === height
    ? image
    : pixels(raw(image).resize(width, height, { fit: 'fill' }));

export function each({ width, height, data }, change) {
  const out = new Uint8Array(data.length);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++, i++) out[i] = Math.min(255, Math.max(0, change(data[i], c, x, y, i) + 0.5));
  return { width, height, data: out };
}

const units = (image) => image.width / 640;

/**
 * The middle of the picture as a camera sees it that was shifted (pixels), rolled (degrees) and zoomed; `null` = as it was.
 * @returns {{ image, homography }} homography: from the unmoved view to the moved one, both as fractions, row-major
 */
export function view(image, motion) {
  const margin = Math.round(MARGIN * image.width);
  const [width, height] = [image.width - 2 * margin, image.height - 2 * margin];
  if (motion === null)
    return { image: crop(image, margin, margin, width, height), homography: [1, 0, 0, 0, 1, 0, 0, 0, 1] };
  const { x = 0, y = 0, degrees = 0, zoom = 1 } = motion;
  const [cos, sin] = [zoom * Math.cos((degrees * Math.PI) / 180), zoom * Math.sin((degrees * Math.PI) / 180)];
  const [cx, cy] = [width / 2, height / 2];
  // (u, v) = R (p - c) + c + (x, y)
  const e = x + cx - cos * cx + sin * cy;
  const f = y + cy - sin * cx - cos * cy;
  const homography = [
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
  const data = new Uint8ClampedArray(width * height * 3);
  const determinant = cos * cos + sin * sin;
  for (let v = 0, to = 0; v < height; v++) {
    for (let u = 0; u < width; u++, to += 3) {
      const [du, dv] = [u + 0.5 - e, v + 0.5 - f];
      const px = (cos * du + sin * dv) / determinant - 0.5 + margin;
      const py = (-sin * du + cos * dv) / determinant - 0.5 + margin;
      bicubic(image, px, py, data, to);
    }
  }
  return { image: { width, height, data: new Uint8Array(data.buffer) }, homography };
}

/** Catmull-Rom, which hardly softens; beyond the picture its edge is repeated. `out` clamps and rounds. */
function bicubic({ width, height, data }, x, y, out, to) {
  const [x0, y0] = [Math.floor(x), Math.floor(y)];
  const columns = catmullRom(x - x0, COLUMNS);
  const rows = catmullRom(y - y0, ROWS);
  let [r, g, b] = [0, 0, 0];
  for (let j = 0; j < 4; j++) {
    const row = Math.min(height - 1, Math.max(0, y0 - 1 + j)) * width;
    for (let i = 0; i < 4; i++) {
      const at = (row + Math.min(width - 1, Math.max(0, x0 - 1 + i))) * 3;
      const weight = columns[i] * rows[j];
      r += weight * data[at];
      g += weight * data[at + 1];
      b += weight * data[at + 2];
    }
  }
  out[to] = r;
  out[to + 1] = g;
  out[to + 2] = b;
}

const COLUMNS = new Float64Array(4);
const ROWS = new Float64Array(4);
function catmullRom(t, out) {
  out[0] = ((-t + 2) * t - 1) * t * 0.5;
  out[1] = ((3 * t - 5) * t * t + 2) * 0.5;
  out[2] = ((-3 * t + 4) * t + 1) * t * 0.5;
  out[3] = (t - 1) * t * t * 0.5;
  return out;
}

export function shiftMotion(image, random) {
  const length = random.uniform(2, 40) * units(image);
  const angle = random.uniform(0, 2 * Math.PI);
  return { x: length * Math.cos(angle), y: length * Math.sin(angle) };
}
export const rollMotion = (_, random) => ({ degrees: random.sign() * random.uniform(0.5, 5) });
export const zoomMotion = (_, random) => ({ zoom: 1 + random.sign() * random.uniform(0.015, 0.1) });

export function gain(image, random) {
  const factor = 2 ** (random.sign() * random.uniform(0.4, 1));
  const tints = [0, 1, 2].map(() => random.uniform(0.93, 1.07));
  return each(image, (value, c) => value * factor * tints[c]);
}
export function gamma(image, random) {
  const power = 2 ** (random.sign() * random.uniform(0.35, 0.8));
  return each(image, (value) => 255 * (value / 255) ** power);
}

/** Clouds and trees: soft darkness over parts of the frame, the rest as it was. */
export function shadow(image, random) {
  const { width, height } = image;
  const cells = random.uniform(0, 1) < 0.5 ? 3 : 7;
  const field = smoothField(cells, random);
  const depth = random.uniform(0.35, 0.65);
  return each(
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

/** Night mode: no colour, lit from beside the lens, more grain. */
export function infrared(image, random) {
  const { width, height, data } = image;
  const [fall, power, level] = [
    random.uniform(0.2, 0.55),
    2 ** random.uniform(-0.4, 0.4),
    random.uniform(0.8, 1.2),
  ];
  const grey = each(image, (_, c, x, y, i) => {
    const at = i - c;
    const luma = 0.4 * data[at] + 0.45 * data[at + 1] + 0.15 * data[at + 2];
    const radius2 = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2;
    return 255 * level * (luma / 255) ** power * (1 - fall * radius2);
  });
  return grain(grey, random.uniform(2, 6), random, true);
}

const BANK = 2 ** 20;
let bank = null;
/** Normal numbers drawn once and read from random places: drawing them afresh took longer than all else. */
function normals() {
  if (bank === null) {
    const random = seededRandom('grain');
    bank = Float32Array.from({ length: BANK }, () => random.normal());
  }
  return bank;
}

/** Gaussian noise of `sigma` levels; `grey` adds the same to all channels. */
export function grain({ width, height, data }, sigma, random, grey = false) {
  const unit = normals();
  const out = new Uint8ClampedArray(data.length);
  const most = BANK - 3 * width;
  for (let y = 0, i = 0; y < height; y++) {
    // Each row starts elsewhere: two pictures read from one place on would hold one noise, shifted.
    let at = Math.floor(random.uniform(0, most));
    for (let x = 0; x < width; x++, i += 3) {
      for (let c = 0; c < 3; c++) {
        out[i + c] = data[i + c] + sigma * unit[at];
        if (!grey) at++;
      }
      if (grey) at++;
    }
  }
  return { width, height, data: new Uint8Array(out.buffer) };
}
export const noise = (image, random) => grain(image, random.uniform(8, 20), random);

export function rain(image, random) {
  const { width, height } = image;
  const scale = units(image);
  const haze = random.uniform(0.05, 0.2);
  const { data } = each(image, (value) => value * (1 - haze) + 165 * haze);
  const slant = random.uniform(-0.3, 0.3);
  for (let drops = (640 * 480) / random.uniform(350, 900); drops > 0; drops--) {
    const [x0, y0] = [random.uniform(0, width), random.uniform(-0.05, 1) * height];
    const [length, opacity] = [random.uniform(7, 26) * scale, random.uniform(0.12, 0.45)];
    const thick = random.uniform(0, 1) < 0.3 ? 2 : 1;
    for (let step = 0; step < length * thick; step++) {
      const [x, y] = [
        Math.floor(x0 + (slant * step) / thick) + (step % thick),
        Math.floor(y0 + step / thick),
      ];
      if (x < 0 || x >= width || y < 0 || y >= height) continue;
      for (let i = (y * width + x) * 3, c = 0; c < 3; c++)
        data[i + c] = data[i + c] * (1 - opacity) + 215 * opacity;
    }
  }
  return { width, height, data };
}

export function fog(image, random) {
  const [near, far, level] = [random.uniform(0.2, 0.4), random.uniform(0.5, 0.8), random.uniform(150, 215)];
  return each(image, (value, _, __, y) => {
    const veil = far + (near - far) * (y / image.height);
    return value * (1 - veil) + level * veil;
  });
}

export async function snow(image, random) {
  const { width, height } = image;
  const flakes = new Uint8Array(width * height * 3);
  for (let n = (width * height) / random.uniform(150, 500); n > 0; n--) {
    const at = (Math.floor(random.uniform(0, height)) * width + Math.floor(random.uniform(0, width))) * 3;
    flakes.fill(255, at, at + 3);
  }
  const { data } = await blur({ width, height, data: flakes }, random.uniform(0.8, 1.5) * units(image));
  return each(image, (value, _, __, ___, i) => {
    const opacity = Math.min(0.8, data[i] / 40);
    return value * (1 - opacity) + 235 * opacity;
  });
}

// What people do to cameras.

/** A hand, tape, paint or cloth before the lens: near things are blurred, so that the edge is soft and little texture is left. */
export async function blocked(image, random) {
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
  const covered = each(image, (value, c, x, y) => {
    const along = (x / width - 0.5) * cos + (y / height - 0.5) * sin;
    const opacity = 1 / (1 + Math.exp((along + half - share * 2 * half) / soft));
    const cloth = level * tints[c] * (1 + contrast * field(x / width, y / height));
    return value * (1 - opacity) + cloth * opacity;
  });
  return grain(covered, random.uniform(0.5, 3), random);
}

export const defocused = async (image, random) =>
  grain(await blur(image, random.uniform(3, 7) * units(image)), random.uniform(0.3, 1.5), random);

/** The lamp is off, or the lens is painted black: next to nothing is left above the noise. */
export function darkened(image, random) {
  const factor = random.uniform(0, 0.07);
  const black = random.uniform(0, 12);
  return grain(
    each(image, (value) => value * factor + black),
    random.uniform(0.5, 3),
    random,
  );
}

/** @returns before and after of a camera that was turned so far that both share less than a third of the view */
export function turnedHalf(image, random) {
  const width = Math.round(image.width * random.uniform(0.55, 0.62));
  const right = image.width - width;
  const [first, second] = random.sign() < 0 ? [0, right] : [right, 0];
  return {
    before: crop(image, first, 0, width, image.height),
    after: crop(image, second, 0, width, image.height),
  };
}

export function crop(image, left, top, width, height) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * image.width + left) * 3;
    data.set(image.data.subarray(from, from + width * 3), y * width * 3);
  }
  return { width, height, data };
}
