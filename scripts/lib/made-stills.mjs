/**
 * Generator of frames of a fixed camera that shows an unchanged scene, and of one small change in it, for the fit of
 * the rule of quiet frames. Sensor noise, coding, shake and light are those of one camera; each frame draws its own.
 */
import { join } from 'node:path';
import sharp from 'sharp';
import { mapPixels } from '../../dist/lab/figures/nuisances.js';
import { MARGIN, view } from './camera-view.mjs';
import { blur, crop, load } from './images.mjs';
import { pick } from './pick.mjs';
import { grain } from './variants.mjs';

/** Widths of the frames, px: previews at full size and at half of it. */
const WIDTHS = [640, 640, 960];
/** The smallest change, px at a width of 640 px and levels of luma. */
const LEAST = { side: 12, contrast: 10 };
const LARGEST_SIDE = 60;

const plates = new Map();
/** @returns the plate, kept for the other cameras of this thread */
function plateOf(folder, { file }) {
  if (!plates.has(file)) plates.set(file, load(join(folder, file), 960));
  return plates.get(file);
}

/** A camera in front of a plate. @returns {Promise<{ scene, frame, traits }>} `frame(scene)` codes one frame as JPEG */
export async function madeCamera(material, random) {
  const plate = pick(material.plates, random);
  const width = pick(WIDTHS, random);
  const picture = await plateOf(material.folder, plate);
  const seen = Math.round(width / (1 - 2 * MARGIN));
  const sized = await scaled(picture, seen, Math.round((seen * picture.height) / picture.width));
  const soft = random.uniform(0, 1) < 0.5 ? random.uniform(0.3, 0.9) : 0;
  const scene = soft === 0 ? sized : await blur(sized, soft);
  const traits = {
    width,
    noise: random.uniform(0.4, 3.5),
    quality: Math.round(random.uniform(55, 94)),
    // px of the frame; a mast in the wind
    shake: random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0.05, 0.3),
    exposure: random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0.002, 0.015),
  };
  return { scene, traits, place: plate.place, frame: (image) => frameOf(image, traits, random) };
}

async function frameOf(image, { noise, quality, shake, exposure }, random) {
  const gain = 1 + exposure * random.normal();
  const lit = exposure === 0 ? image : mapPixels(image, (value) => value * gain);
  const motion = shake === 0 ? null : { x: shake * random.normal(), y: shake * random.normal() };
  const seen = grain(view(lit, motion).image, noise, random);
  const { width, height, data } = seen;
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
}

const scaled = async (image, width, height) => {
  const { data, width: w, height: h } = image;
  const raw = sharp(data, { raw: { width: w, height: h, channels: 3 } }).resize(width, height, { fit: 'fill' });
  return { width, height, data: await raw.removeAlpha().raw().toBuffer() };
};

/**
 * The scene with one small change: a patch that is brighter or darker, or has the texture of another place.
 * @returns {Promise<{ scene, change: { kind, width, height, contrast } }>} contrast: mean absolute difference of luma
 */
export async function changedScene(material, camera, random) {
  for (;;) {
    const changed = await tryChange(material, camera, random);
    if (changed.change.contrast >= LEAST.contrast) return changed;
  }
}

async function tryChange(material, { scene, place }, random) {
  const unit = ((1 - 2 * MARGIN) * scene.width) / 640;
  const side = () => Math.round(unit * LEAST.side * (LARGEST_SIDE / LEAST.side) ** (random.uniform(0, 1) ** 2));
  const [width, height] = [side(), side()];
  // The border of the view is cut off.
  const edge = Math.ceil(MARGIN * scene.width);
  const left = Math.floor(random.uniform(edge, scene.width - edge - width));
  const top = Math.floor(random.uniform(edge, scene.height - edge - height));
  const under = crop(scene, left, top, width, height);
  const wanted = LEAST.contrast - 5 * Math.log(1 - random.uniform(0, 1)) + 0.5;
  const kind = random.uniform(0, 1) < 0.5 ? 'flat' : 'texture';
  let patch;
  if (kind === 'flat') {
    const sign = random.sign();
    patch = mapPixels(under, (value) => value + sign * wanted);
  } else {
    const plate = pick(
      material.plates.filter((other) => other.place !== place),
      random,
    );
    const other = await plateOf(material.folder, plate);
    const [x, y] = [other.width - width, other.height - height].map((room) => Math.floor(random.uniform(0, room)));
    const texture = crop(other, x, y, width, height);
    const share = Math.min(1, wanted / Math.max(1, contrastOf(under, texture)));
    patch = { ...under, data: under.data.map((value, i) => value + share * (texture.data[i] - value)) };
  }
  const data = Uint8Array.from(scene.data);
  for (let y = 0; y < height; y++) {
    data.set(patch.data.subarray(y * width * 3, (y + 1) * width * 3), ((top + y) * scene.width + left) * 3);
  }
  const change = { kind, left, top, width, height, contrast: contrastOf(under, patch) };
  return { scene: { ...scene, data }, change };
}

function contrastOf(a, b) {
  let sum = 0;
  for (let i = 0; i < a.data.length; i += 3) {
    const d = (c) => b.data[i + c] - a.data[i + c];
    sum += Math.abs(0.299 * d(0) + 0.587 * d(1) + 0.114 * d(2));
  }
  return sum / (a.data.length / 3);
}
