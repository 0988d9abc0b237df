/** Places of generated pairs: a whole plate, or a bare place, which shows little besides the changed things. */
import { join } from 'node:path';
import sharp from 'sharp';
import { blur, crop, load, resized } from './images.mjs';
import { grain } from './variants.mjs';

/** Pixels: 640 and a little after the margin is cut off. */
const WIDTH = 720;
/** Share of the bare places whose ground is all of one tone, as asphalt is from above: noise hides its grain. */
const PLAIN = 4 / 7;

/**
 * @param bare share of the places that are bare
 * @returns {Promise<{ image, bare: boolean }>} the view of an empty plate
 */
export async function placeOf({ folder }, plate, bare, random) {
  const full = await load(join(folder, plate.file), WIDTH);
  const kind = random.uniform(0, 1);
  if (kind >= bare) return { image: full, bare: false };
  if (kind < PLAIN * bare) {
    const ground = await smooth(full, random.uniform(150, 600));
    const fine = await textured(ground, random.uniform(0, 1.5), random.uniform(0.5, 1.4), random);
    return { image: await marked(fine, { areas: 0, lines: 1, spots: 8 }, random), bare: true };
  }
  const ground = random.uniform(0, 1) < 0.7 ? await smooth(full, random.uniform(15, 80)) : await nearest(full, random);
  const coarse = await textured(ground, random.uniform(0, 2.5), random.uniform(3, 12), random);
  const fine = await textured(coarse, random.uniform(0, 3), random.uniform(0.5, 1.4), random);
  return { image: await marked(fine, { areas: 2, lines: 5, spots: 30 }, random), bare: true };
}

/** Low-pass filter: removes structure smaller than about `size` pixels. */
async function smooth(image, size) {
  const [width, height] = [image.width, image.height].map((side) => Math.max(2, Math.round(side / size)));
  return resized(await resized(image, { width, height }), image);
}

/** The part of the image with the least detail (asphalt, floor, wall, sky), enlarged to the size of the image. */
async function nearest(image, random) {
  const share = random.uniform(0.35, 0.6);
  const [width, height] = [image.width, image.height].map((side) => Math.round(side * share));
  const parts = Array.from({ length: 12 }, () => {
    const left = Math.floor(random.uniform(0, image.width - width));
    const top = Math.floor(random.uniform(0, image.height - height));
    const part = crop(image, left, top, width, height);
    return { part, detail: detailOf(part) };
  });
  parts.sort((a, b) => a.detail - b.detail);
  return resized(parts[0].part, image);
}

/** Mean step of the green between pixels that are four apart. */
function detailOf({ width, data }) {
  let sum = 0;
  let count = 0;
  for (let i = 1; i + 12 < data.length; i += 9) {
    if (((i / 3) | 0) % width >= width - 4) continue;
    sum += Math.abs(data[i + 12] - data[i]);
    count++;
  }
  return sum / count;
}

/** The grain of a surface: it stays where it is, as a sensor's noise does not. `level` is its deviation in levels. */
async function textured(image, level, size, random) {
  const { width, height } = image;
  const grey = { width, height, data: new Uint8Array(width * height * 3).fill(128) };
  const sigma = 40;
  const field = await blur(grain(grey, sigma, random, true), size);
  // A blur of that size leaves of white noise of deviation s s / (2 sqrt(pi) size).
  const share = level / (sigma / (2 * Math.sqrt(Math.PI) * size));
  const data = new Uint8ClampedArray(image.data.length);
  for (let i = 0; i < data.length; i++) data[i] = image.data[i] + share * (field.data[i] - 128);
  return { width, height, data: new Uint8Array(data.buffer) };
}

/** Walls and kerbs as areas of another tone, painted lines, spots: up to so many of each. */
async function marked(image, most, random) {
  const { width, height } = image;
  const count = (limit) => Math.floor(random.uniform(0, limit + 1));
  const x = () => random.uniform(-0.1, 1.1) * width;
  const y = () => random.uniform(-0.1, 1.1) * height;
  const tone = () => {
    const level = random.uniform(10, 245);
    return `rgb(${[0, 1, 2].map(() => Math.round(level * random.uniform(0.85, 1.1))).join(',')})`;
  };
  const areas = Array.from({ length: count(most.areas) }, () => {
    const [cx, cy, angle] = [x(), y(), random.uniform(0, 360)];
    const turn = `rotate(${angle} ${cx} ${cy})`;
    return (
      `<rect x="${cx}" y="${cy}" width="${2 * width}" height="${2 * width}" transform="${turn}" ` +
      `fill="${tone()}" opacity="${random.uniform(0.15, 0.7)}"/>`
    );
  });
  const lines = Array.from({ length: count(most.lines) }, () => {
    const dashes =
      random.uniform(0, 1) < 0.4 ? ` stroke-dasharray="${random.uniform(20, 90)} ${random.uniform(20, 90)}"` : '';
    return (
      `<line x1="${x()}" y1="${y()}" x2="${x()}" y2="${y()}" ` +
      `stroke="${tone()}" stroke-width="${random.uniform(1.5, 12)}" opacity="${random.uniform(0.3, 1)}"${dashes}/>`
    );
  });
  const spots = Array.from(
    { length: count(most.spots) },
    () =>
      `<circle cx="${x()}" cy="${y()}" r="${random.uniform(0.7, 3)}" fill="${tone()}" ` +
      `opacity="${random.uniform(0.3, 1)}"/>`,
  );
  const drawn = [...areas, ...lines, ...spots].join('');
  const input = Buffer.from(`<svg width="${width}" height="${height}">${drawn}</svg>`);
  const out = sharp(image.data, { raw: { width, height, channels: 3 } }).composite([{ input }]);
  return { width, height, data: await out.removeAlpha().raw().toBuffer() };
}
