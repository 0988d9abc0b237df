/**
 * Frames of a made afternoon of one camera, for the animation of the README: people cut out of the frames of
 * test/fixtures/replay, and a rendered van, in the same place without people, under clouds, wind and dusk.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';
import { load } from './images.mjs';
import { ROOT } from './shell.mjs';
import { grain } from './variants.mjs';

const REPLAY = join(ROOT, 'test/fixtures/replay');
const [WIDTH, HEIGHT] = [512, 384];
const SIZE = { width: WIDTH, height: HEIGHT };
const RAW = { raw: { ...SIZE, channels: 3 } };
/** Levels, summed over the channels, by which a person differs from the empty place. */
const DIFFERS = 60;
/** Sensor noise in levels, largest shake in pixels, quality of the JPEG files. */
const [NOISE, SHAKE, QUALITY] = [1.5, 5, 88];
/** At the scale of the road there, about 25 pixels per metre. */
const VAN = { width: 100, left: 335, top: 104 };

/** Seconds of the replay at which other people touch the person. */
const TOUCHED = { M: [46], P: [69, 71, 73] };

const dayAt = (clock) => Date.parse(`2026-06-01T${clock}Z`);
const SECOND = 1_000;
const MINUTE = 60_000;

/** @returns {Promise<{ at: number, jpeg: Buffer }[]>} 80 frames in the order of their capture times, ms */
export async function madeAfternoon() {
  const random = seededRandom('afternoon');
  const place = await load(join(REPLAY, 'reference.jpg'), WIDTH);
  const van = await sharp(join(ROOT, 'examples/van.webp')).resize(VAN.width).png().toBuffer();
  const parked = { input: van, left: VAN.left, top: VAN.top };
  const frames = [];
  const add = async (at, { things = [], light = 1, shakes = false }) => {
    const scene = await sharp(place.data, RAW).composite(things).removeAlpha().raw().toBuffer();
    frames.push({ at, jpeg: await seen(scene, { light, shakes, random }) });
  };
  const stay = async (clock, every, lights, state = {}) => {
    for (const [i, light] of lights.entries()) await add(dayAt(clock) + i * every, { ...state, light });
  };
  const walk = async (clock, id, state = {}) => {
    const { begin, path } = JSON.parse(readFileSync(join(REPLAY, 'visits.json'), 'utf8')).find((one) => one.id === id);
    for (const [second, ...centre] of path.filter(([at]) => !TOUCHED[id].includes(at))) {
      const person = await personOf(place, second, centre);
      await add(dayAt(clock) + (second - begin) * SECOND, { ...state, things: [...(state.things ?? []), person] });
    }
  };
  const same = (count, light = 1) => Array(count).fill(light);

  await stay('13:00:00', 10 * MINUTE, [1, 0.86, 0.72, 0.6, 0.72, 0.86, 1, 1.12]);
  await stay('14:20:00', SECOND, same(2));
  await walk('14:20:02', 'M');
  await stay('14:20:18', SECOND, same(6));
  await stay('14:40:00', 10 * SECOND, same(8), { shakes: true });
  const things = [parked];
  await stay('15:00:00', MINUTE, same(8), { things });
  await stay('15:10:00', 10 * MINUTE, same(8), { things });
  await stay('16:30:00', MINUTE, [...same(4), ...same(3, 0.75)]);
  await stay('16:40:00', SECOND, same(2, 0.75));
  await walk('16:40:02', 'P', { light: 0.75 });
  await stay('16:40:11', SECOND, same(5, 0.75));
  await stay('16:50:00', 10 * MINUTE, [0.64, 0.55, 0.46, 0.39, 0.33]);
  return frames;
}

/** The person at this place of a frame: the pixels there that differ from the empty place, and hang together. */
async function personOf(place, second, [x, y]) {
  const name = new Date(dayAt('12:00:00') + second * SECOND).toISOString().slice(11, 19).replaceAll(':', '-');
  const frame = await load(join(REPLAY, `frames/2026-01-05T${name}Z.jpg`), WIDTH);
  const half = { width: 8 + 24 * y, height: 8 + 52 * y };
  const differs = (u, v) => {
    if (Math.abs(u - x * WIDTH) > half.width || Math.abs(v - y * HEIGHT) > half.height) return false;
    const at = (v * WIDTH + u) * 3;
    return [0, 1, 2].reduce((sum, c) => sum + Math.abs(frame.data[at + c] - place.data[at + c]), 0) > DIFFERS;
  };
  const mask = grown(differs, [Math.round(x * WIDTH), Math.round(y * HEIGHT)]);
  const alpha = await sharp(mask, { raw: { ...SIZE, channels: 1 } })
    .blur(1.2)
    .toColourspace('b-w')
    .raw()
    .toBuffer();
  const input = await sharp(frame.data, RAW)
    .joinChannel(alpha, { raw: { ...SIZE, channels: 1 } })
    .png()
    .toBuffer();
  return { input, left: 0, top: 0 };
}

/** @returns 255 where pixels hang together with the centre over gaps of two pixels, and in the pixels beside them */
function grown(differs, centre) {
  const mask = Buffer.alloc(WIDTH * HEIGHT);
  const reached = new Set();
  const waiting = [];
  const reach = ([u, v], radius) => {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const [a, b] = [u + dx, v + dy];
        if (a < 0 || b < 0 || a >= WIDTH || b >= HEIGHT || reached.has(b * WIDTH + a) || !differs(a, b)) continue;
        reached.add(b * WIDTH + a);
        waiting.push([a, b]);
      }
    }
  };
  reach(centre, 8);
  while (waiting.length > 0) {
    const [u, v] = waiting.pop();
    for (const at of [0, 1, -1, WIDTH, -WIDTH]) mask[v * WIDTH + u + at] = 255;
    reach([u, v], 2);
  }
  return mask;
}

async function seen(scene, { light, shakes, random }) {
  const [dx, dy] = [0, 1].map(() => SHAKE + (shakes ? Math.round(random.uniform(-SHAKE, SHAKE)) : 0));
  const lit = await sharp(scene, RAW).linear(light, 0).raw().toBuffer();
  const border = { top: SHAKE, bottom: SHAKE, left: SHAKE, right: SHAKE };
  const wide = { width: WIDTH + 2 * SHAKE, height: HEIGHT + 2 * SHAKE, channels: 3 };
  const extended = await sharp(lit, RAW)
    .extend({ ...border, extendWith: 'copy' })
    .raw()
    .toBuffer();
  const view = await sharp(extended, { raw: wide })
    .extract({ left: dx, top: dy, ...SIZE })
    .raw()
    .toBuffer();
  return sharp(grain({ ...SIZE, data: view }, NOISE, random).data, RAW)
    .jpeg({ quality: QUALITY })
    .toBuffer();
}
