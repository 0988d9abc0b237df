/**
 * Sequences of a fixed camera at 1920 x 1080, made from the frames of the replay (test/fixtures/replay): quiet ones of
 * the empty scene, and busy ones in which people walk. Every frame has sensor noise and a JPEG coding of its own.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { ROOT } from '../../../scripts/lib/shell.mjs';
import { dist } from './service.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
const WIDTH = 1920;
const HEIGHT = 1080;
/** The 16:9 part of the frames of 512 x 384 in which the people walk. */
const WIDE = { left: 0, top: 60, width: 512, height: 288 };
/** Deviation of the noise of a daylight camera, in levels. */
const NOISE = 2;
const QUALITY = 85;

const enlarged = async (file) => {
  const { data } = await sharp(file)
    .extract(WIDE)
    .resize(WIDTH, HEIGHT, { kernel: 'lanczos3' })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: WIDTH, height: HEIGHT, data };
};

/**
 * @param {number} count frames of each sequence
 * @returns {Promise<{ quiet: Buffer[], busy: Buffer[] }>} JPEGs in the order of time; the same bytes at every call
 */
export async function cameraSequences(count) {
  // Both read dist/, which the caller builds.
  const { seededRandom } = await dist('base/random.js');
  const { grain } = await import('../../../scripts/lib/variants.mjs');
  const coded = async (image, seed) => {
    const { data } = grain(image, NOISE, seededRandom(seed));
    return sharp(data, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
      .jpeg({ quality: QUALITY })
      .toBuffer();
  };
  const empty = await enlarged(join(FIXTURE, 'reference.jpg'));
  const recorded = readdirSync(join(FIXTURE, 'frames')).sort();
  const quiet = [];
  const busy = [];
  for (let i = 0; i < count; i++) {
    quiet.push(await coded(empty, `quiet ${i}`));
    const file = join(FIXTURE, 'frames', recorded[i % recorded.length]);
    busy.push(await coded(await enlarged(file), `busy ${i}`));
  }
  return { quiet, busy };
}
