/**
 * Pairs made of plates and sprites (the data folder's README says what those are), with their truth, for fitting what is
 * then measured on real pairs. Plates that share a camera with the development pairs are never used.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import * as make from './variants.mjs';

const WIDTH = 720; // 640 px and a little after the margin is cut off

/**
 * Share of the pairs whose place has no detail of its own, as sand and asphalt: all that can be seen are things that come and go,
 * and they are up to so many times as large, as a car is that is seen from above.
 */
const BARE = 0.2;
const LARGER = 4;

/** name -> { nuisance | tamper, make } of what falls on `after`; motions are done by the view. */
export const NUISANCE_VARIANTS = {
  gain: { nuisance: 'lighting', make: make.gain },
  gamma: { nuisance: 'lighting', make: make.gamma },
  ir: { nuisance: 'ir_switch', make: make.infrared },
  shadow: { nuisance: 'shadow', make: make.shadow },
  rain: { nuisance: 'weather', make: make.rain },
  fog: { nuisance: 'weather', make: make.fog },
  snow: { nuisance: 'weather', make: make.snow },
  jpeg: {
    nuisance: 'compression',
    make: (image, random) => make.jpeg(image, Math.round(random.uniform(12, 25))),
  },
  noise: { nuisance: 'noise', make: make.noise },
  shift: { nuisance: 'camera_moved', motion: make.shiftMotion },
  roll: { nuisance: 'camera_moved', motion: make.rollMotion },
  zoom: { nuisance: 'camera_moved', motion: make.zoomMotion },
};
export const TAMPER_VARIANTS = {
  blocked: { tamper: 'blocked', make: make.blocked },
  defocused: { tamper: 'defocused', make: make.defocused },
  darkened: { tamper: 'darkened', make: make.darkened },
  turned: { tamper: 'turned', other: true },
  turned_half: { tamper: 'turned', half: true },
};
export const VARIANTS = { ...NUISANCE_VARIANTS, ...TAMPER_VARIANTS };

/** @throws Error naming what the folder lacks */
export function openMaterial(folder) {
  const read = (file) => {
    try {
      return JSON.parse(readFileSync(join(folder, file), 'utf8'));
    } catch (error) {
      throw new Error(
        `${join(folder, file)}: ${error.message}; expected the data folder in --data= or SCENEDELTA_DATA`,
      );
    }
  };
  const plates = read('plates/plates.json').plates.filter(
    (plate) => !plate.dev_scene && plate.ground.length > 0,
  );
  const sprites = read('sprites/sprites.json').filter(({ pose }) => pose !== 'lying');
  return { folder, plates, sprites };
}

/** Draws from a list. */
export const pick = (list, random) =>
  list[Math.min(list.length - 1, Math.floor(random.uniform(0, list.length)))];

/**
 * One camera, two frames: objects come, go or stay; each frame has its own sensor noise and coding; `variant` falls on
 * `after` (null: nothing). A tampered pair is not `changed`.
 * @returns {Promise<{ before, after, place, changed, nuisance: string | null, tamper: string | null, homography }>}
 */
export async function madePair(material, variant, changed, random) {
  const plate = pick(material.plates, random);
  const rule = variant === null ? {} : VARIANTS[variant];
  const plain = random.uniform(0, 1) < BARE;
  const larger = plain ? random.uniform(1, LARGER) : 1;
  const scene = await make.load(join(material.folder, plate.file), WIDTH);
  const picture = plain ? await make.blur(scene, 12) : scene;
  const some = (count) => objects(material, plate, picture, { count, larger }, random);
  const staying = await some(Math.floor(random.uniform(0, 3)));
  const moving = changed ? await some(1 + Math.floor(random.uniform(0, 2))) : [];
  const comes = random.uniform(0, 1);
  const [gone, come] =
    comes < 0.4 ? [[], moving] : comes < 0.8 ? [moving, []] : [moving.slice(0, 1), moving.slice(1)];
  let before = await composed(picture, [...staying, ...gone]);
  let after = await composed(picture, [...staying, ...come]);
  let homography = null;
  if (rule.half) {
    const halves = make.turnedHalf(before, random);
    before = make.view(halves.before, null).image;
    after = make.view(halves.after, null).image;
  } else {
    const motion = rule.motion ? rule.motion(before, random) : jitter(random);
    before = make.view(before, null).image;
    const other = rule.other ? await otherScene(material, plate, random) : after;
    ({ image: after, homography } = make.view(other, motion));
  }
  // What the weather and people do happens before the lens, the sensor and the coder add theirs.
  if (rule.make) after = await rule.make(after, random);
  const level = random.uniform(0.4, 3.5);
  const quality = random.uniform(60, 94);
  const coded = (image, own) =>
    make.jpeg(
      make.grain(image, level, random),
      Math.round(Math.min(95, quality + random.uniform(-own, own))),
    );
  before = await coded(before, 4);
  after = variant === 'jpeg' ? after : await coded(after, 4);
  return {
    before,
    // another scene's plate may have another shape
    after: await make.resized(after, before),
    place: plate.place,
    changed: changed && !rule.tamper && moving.length > 0,
    nuisance: rule.nuisance ?? null,
    tamper: rule.tamper ?? null,
    homography,
  };
}

/** A mast in the wind: too little to be called moved. */
const jitter = (random) =>
  random.uniform(0, 1) < 0.5 ? null : { x: random.normal() * 0.25, y: random.normal() * 0.25 };

async function otherScene(material, plate, random) {
  const others = material.plates.filter(({ place }) => place !== plate.place);
  return make.load(join(material.folder, pick(others, random).file), WIDTH);
}

/** Sprites at places where they may stand, as large as they are there, or `larger` times that. */
async function objects({ folder, sprites }, plate, picture, { count, larger }, random) {
  const scale = picture.width / plate.width;
  const placed = [];
  for (let tries = 0; placed.length < count && tries < 4 * count; tries++) {
    const sprite = pick(sprites, random);
    const { polygon } = pick(plate.ground, random);
    const [a, b, c] = [0, 1, 2].map(() => pick(polygon, random));
    const [s, t] = [random.uniform(0, 1), random.uniform(0, 1)];
    const [x, y] = [0, 1].map((k) => a[k] + s * (b[k] - a[k]) + t * (1 - s) * (c[k] - a[k]));
    const size = (personAt(plate, y) / 1.7 / sprite.px_per_m) * scale * larger;
    const [width, height] = sprite.px.map((length) => Math.round(length * size));
    if (!(width >= 6 && height >= 10 && width < picture.width / 2 && height < picture.height / 1.3)) continue;
    const left = Math.round(x * scale - sprite.anchor[0] * size);
    const top = Math.round(y * scale - sprite.anchor[1] * size);
    if (left < 0 || top < 0 || left + width > picture.width || top + height > picture.height) continue;
    const input = await sharp(join(folder, 'sprites', sprite.file))
      .resize(width, height, { fit: 'fill' })
      .png()
      .toBuffer();
    placed.push({ input, left, top });
  }
  return placed;
}

/** Pixels of a 1.7 m person whose feet are on this row. */
function personAt({ person_px: [[y0, h0], [y1, h1]] }, y) {
  return h0 + ((h1 - h0) * (y - y0)) / (y1 - y0 || 1);
}

async function composed(picture, placed) {
  if (placed.length === 0) return picture;
  const { width, height, data } = picture;
  const composite = sharp(data, { raw: { width, height, channels: 3 } }).composite(placed);
  const out = await composite.removeAlpha().raw().toBuffer();
  return { width, height, data: out };
}
