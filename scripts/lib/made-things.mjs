/** Things in the generated pairs: placed sprites. */
import { join } from 'node:path';
import sharp from 'sharp';
import { pick } from './pick.mjs';

/** Sprites on the ground of a plate, at the scale of their position. */
export async function thingsOnGround({ folder, sprites }, plate, image, count, random) {
  const scale = image.width / plate.width;
  const placed = [];
  for (let tries = 0; placed.length < count && tries < 4 * count; tries++) {
    const sprite = pick(sprites, random);
    const { polygon } = pick(plate.ground, random);
    const [a, b, c] = [0, 1, 2].map(() => pick(polygon, random));
    const [s, t] = [random.uniform(0, 1), random.uniform(0, 1)];
    const [x, y] = [0, 1].map((k) => a[k] + s * (b[k] - a[k]) + t * (1 - s) * (c[k] - a[k]));
    const size = (personAt(plate, y) / 1.7 / sprite.px_per_m) * scale;
    const [width, height] = sprite.px.map((length) => Math.round(length * size));
    if (!(width >= 6 && height >= 10 && width < image.width / 2 && height < image.height / 1.3)) continue;
    const left = Math.round(x * scale - sprite.anchor[0] * size);
    const top = Math.round(y * scale - sprite.anchor[1] * size);
    if (left < 0 || top < 0 || left + width > image.width || top + height > image.height) continue;
    const file = join(folder, 'sprites', sprite.file);
    const input = await sharp(file).resize(width, height, { fit: 'fill' }).png().toBuffer();
    placed.push({ input, left, top });
  }
  return placed;
}

/** Length of a thing near the camera, as a share of the frame's longer side. */
const NEAR = { least: 0.12, most: 0.5 };
/** Largest share of the frame that all of them cover; beyond it the frame could as well show another place. */
const MOST_TAKEN = 0.35;
/** Sprites have 160 px; above this enlargement their edges are sharpened. */
const STEEPER = 1.2;

/**
 * Large sprites anywhere in the frame, as seen by a camera that looks down from near: a car is a third of the image.
 */
export async function thingsNear({ folder, sprites }, image, count, random) {
  const placed = [];
  let room = MOST_TAKEN * image.width * image.height;
  for (let i = 0; i < count; i++) {
    const sprite = pick(sprites, random);
    const longest = Math.max(image.width, image.height) * random.uniform(NEAR.least, NEAR.most);
    const scale = longest / Math.max(...sprite.px);
    const [width, height] = sprite.px.map((length) => Math.max(2, Math.round(length * scale)));
    const left = Math.round(random.uniform(-width / 2, image.width - width / 2));
    const top = Math.round(random.uniform(-height / 2, image.height - height / 2));
    const seen = {
      left: Math.max(0, -left),
      top: Math.max(0, -top),
      width: Math.min(image.width, left + width) - Math.max(0, left),
      height: Math.min(image.height, top + height) - Math.max(0, top),
    };
    room -= seen.width * seen.height;
    if (room < 0) break;
    const resized = sharp(join(folder, 'sprites', sprite.file)).resize(width, height, { fit: 'fill' });
    const steep = scale > STEEPER ? resized.sharpen({ sigma: Math.min(2, scale / 1.5) }) : resized;
    const input = await sharp(await steep.png().toBuffer())
      .extract(seen)
      .png()
      .toBuffer();
    placed.push({ input, left: Math.max(0, left), top: Math.max(0, top) });
  }
  return placed;
}

/** Height in pixels of a 1.7 m person whose feet are on row y. */
function personAt({ person_px: [[y0, h0], [y1, h1]] }, y) {
  return h0 + ((h1 - h0) * (y - y0)) / (y1 - y0 || 1);
}

export async function composed(image, placed) {
  if (placed.length === 0) return image;
  const { width, height, data } = image;
  const composite = sharp(data, { raw: { width, height, channels: 3 } }).composite(placed);
  const out = await composite.removeAlpha().raw().toBuffer();
  return { width, height, data: out };
}
