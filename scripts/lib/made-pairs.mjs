/**
 * Generator of labelled pairs from plates and sprites (defined in the README of the data folder), for fits whose
 * results are measured on real pairs. Plates that share a camera with the development pairs are never used. Neither are
 * plates with an unclear or restrictive licence, because the fitted weights are shipped.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { turnedHalf, view } from './camera-view.mjs';
import { resized } from './images.mjs';
import { placeOf } from './made-places.mjs';
import { sensorOf } from './made-sensor.mjs';
import { composed, thingsNear, thingsOnGround } from './made-things.mjs';
import { pick } from './pick.mjs';
import { VARIANTS } from './variants.mjs';

/**
 * Share of the pairs of whole plates in which the changed things are near the camera, as they are in every bare place.
 */
const NEAR = 0.25;

/**
 * Shares of the pairs that show a bare place, and of those whose frames differ in exposure and coding.
 */
export const MIXED = { bare: 0.35, drifts: 0.5 };
/** Whole plates, both frames exposed and coded alike: they differ in the synthetic alteration alone. */
export const ALIKE = { bare: 0, drifts: 0 };

/**
 * Opens the plates and sprites that fits may use.
 * @throws Error naming what the folder lacks
 */
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
    (plate) => !plate.dev_scene && plate.shippable && plate.ground.length > 0,
  );
  const sprites = read('sprites/sprites.json').filter(({ pose }) => pose !== 'lying');
  return { folder, plates, sprites };
}

/**
 * Generates two frames of one camera. Things appear, disappear or stay; each frame has its own sensor noise and coding.
 * @param {string | null} variant alters `after`; null: no alteration
 * @param {boolean} changed whether things appear or disappear
 * @param {{ bare: number, drifts: number }} shares MIXED or ALIKE
 * @returns {Promise<{ before, after, place: string, nuisance: string | null, tamper: string | null }>}
 */
export async function madePair(material, variant, changed, shares, random) {
  const plate = pick(material.plates, random);
  const rule = variant === null ? {} : VARIANTS[variant];
  const { image, bare } = await placeOf(material, plate, shares.bare, random);
  const near = bare || random.uniform(0, 1) < NEAR;
  const some = (count) =>
    near ? thingsNear(material, image, count, random) : thingsOnGround(material, plate, image, count, random);
  const staying = bare
    ? await some(Math.floor(random.uniform(0, 2)))
    : await thingsOnGround(material, plate, image, Math.floor(random.uniform(0, 3)), random);
  const moving = changed ? await some(1 + Math.floor(random.uniform(0, 2))) : [];
  const comes = random.uniform(0, 1);
  const gone = comes < 0.35 ? 0 : comes < 0.7 ? moving.length : Math.ceil(moving.length / 2);
  const sensor = sensorOf(shares.drifts, random);
  let before = await sensor.lens(await composed(image, [...staying, ...moving.slice(0, gone)]));
  let after = await sensor.lens(await composed(image, [...staying, ...moving.slice(gone)]));
  if (rule.half) {
    const halves = turnedHalf(before, random);
    before = view(halves.before, null).image;
    after = view(halves.after, null).image;
  } else {
    const motion = rule.motion ? rule.motion(before, random) : jitter(random);
    before = view(before, null).image;
    const other = rule.other ? await otherScene(material, plate, shares, random) : after;
    after = view(other, motion).image;
  }
  // Weather and people alter the scene before the sensor and the coder alter the frame.
  if (rule.make) after = await rule.make(after, random);
  before = await sensor.before(before);
  after = variant === 'jpeg' ? after : await sensor.after(after);
  return {
    before,
    // The plate of another scene may have another shape.
    after: await resized(after, before),
    place: plate.place,
    nuisance: rule.nuisance ?? null,
    tamper: rule.tamper ?? null,
  };
}

/** The motion of a mast in the wind, which is too small to count as a moved camera. */
const jitter = (random) =>
  random.uniform(0, 1) < 0.5 ? null : { x: random.normal() * 0.25, y: random.normal() * 0.25 };

async function otherScene(material, plate, { bare }, random) {
  const others = material.plates.filter(({ place }) => place !== plate.place);
  return (await placeOf(material, pick(others, random), bare, random)).image;
}

/** @returns {string[]} sources of the fit, grouped by the licence that requires their names, in descending frequency */
export function sourcesOf({ plates, sprites }) {
  const by = new Map();
  const add = (line) => by.set(line, (by.get(line) ?? 0) + 1);
  for (const { licence, source } of plates) add(`plates: ${licence.includes('(') ? licence : `${licence}, ${source}`}`);
  for (const { licence } of sprites) add(`sprites of Sweet Home 3D's furniture libraries: ${licence}`);
  return [...by].sort(([, a], [, b]) => b - a).map(([line, count]) => `${count} ${line}`);
}
