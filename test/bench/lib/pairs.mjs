/** The example pair in the sizes that the benches need. */
import { join } from 'node:path';
import sharp from 'sharp';
import { ROOT } from '../../../scripts/lib/shell.mjs';

const example = (side) => join(ROOT, `examples/${side}.jpg`);
/** The 16:9 part of the 768 x 576 example that contains the change. */
const WIDE = { left: 0, top: 100, width: 768, height: 432 };
/** The woman in the example's after frame. */
const PERSON = { left: 680, top: 265, width: 62, height: 115 };

const upscaled = (picture, width, height) =>
  sharp(picture).resize(width, height, { kernel: 'lanczos3', fit: 'fill' }).jpeg({ quality: 88 }).toBuffer();

/** Two pairs of 1920 x 1080 JPEGs, roughly 400 KB each. */
export const fullHdPairs = () => pairsOfHeight(1080);

/**
 * Two pairs of JPEGs of this height, 16:9: the example itself, and its mirror image in which the person stands
 * elsewhere and was not there before.
 * @returns {Promise<{ before: Buffer, after: Buffer }[]>}
 */
export async function pairsOfHeight(height) {
  const width = Math.round((height * 16) / 9);
  const wide = (side) => sharp(example(side)).extract(WIDE).png().toBuffer();
  const first = {
    before: await upscaled(await wide('before'), width, height),
    after: await upscaled(await wide('after'), width, height),
  };

  const empty = await sharp(await wide('before'))
    .flop()
    .png()
    .toBuffer();
  const person = await sharp(example('after')).extract(PERSON).flop().toBuffer();
  const peopled = await sharp(empty)
    .composite([{ input: person, left: 420, top: 180 }])
    .png()
    .toBuffer();
  const second = { before: await upscaled(empty, width, height), after: await upscaled(peopled, width, height) };
  return [first, second];
}

/** The example pair as JPEGs of about `bytes` each, enlarged until they have that length. */
export async function pairOfSize(bytes) {
  const make = async (side) => {
    for (let width = 768; ; width += 96) {
      const jpeg = await sharp(example(side)).resize(width).jpeg({ quality: 90 }).toBuffer();
      if (jpeg.length >= bytes) return jpeg;
    }
  };
  return { before: await make('before'), after: await make('after') };
}

let counter = 0;
/**
 * The same image with different bytes (a JPEG comment), so that every frame is new to the service: another hash,
 * another file, and a miss of the feature cache.
 */
export function fresh(jpeg) {
  counter += 1;
  const text = Buffer.from(`${process.pid}-${counter}`, 'latin1');
  const comment = Buffer.alloc(4);
  comment.writeUInt16BE(0xfffe, 0);
  comment.writeUInt16BE(text.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), comment, text, jpeg.subarray(2)]);
}
