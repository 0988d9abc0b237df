/**
 * `npm run bench -- views --data=FOLDER [--sequences=200] [--write]`: made sequences of real cameras with one or two
 * pictures of other cameras between their frames, or a new view from some frame on, through `stepSequence`. The
 * evidence of the viewpoint decides, without a model. The threshold was chosen on the first half of the cameras.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';
import { decodeFrame } from '../../dist/frames/decode.js';
import { identicalFinding, tamperedFinding } from '../../dist/pipeline/finding.js';
import { showsOtherView } from '../../dist/viewpoint/evidence.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { load, resized } from '../../scripts/lib/images.mjs';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { NUISANCE_VARIANTS } from '../../scripts/lib/variants.mjs';
import { report } from './lib/report.mjs';
import { sequenceOf } from './lib/step-sequence.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  sequences: { type: 'string', default: '200' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const folder = dataFolder(values.data);
const WIDTH = 640;
const ALTERED = ['gain', 'gamma', 'ir', 'shadow', 'rain', 'fog', 'snow', 'noise'];
const LIMITS = { pixelLimit: 50_000_000 };
/** Frames of another camera in a row: named and dropped, but the third of one view is the camera's new one. */
const KINDS = { 'no foreign picture': 0, 'one foreign picture': 1, 'two foreign pictures': 2, 'a new view': 4 };

const cameras = new Map();
for (const set of ['dev_pairs', 'dev2_pairs', 'real_train']) {
  for (const line of readFileSync(join(folder, set, 'pairs.ndjson'), 'utf8')
    .trim()
    .split('\n')) {
    const { scene, camera = scene, before, after } = JSON.parse(line);
    const pair = [before, after].map((file) => join(folder, set, file));
    cameras.set(`${set} ${camera}`, [...(cameras.get(`${set} ${camera}`) ?? []), pair]);
  }
}
const names = [...cameras.keys()];

/** @returns a JPEG of the size of the sequence */
async function picture(file, size, variant, random) {
  let image = await resized(await load(file, WIDTH), size);
  if (variant !== null) image = await NUISANCE_VARIANTS[variant].make(image, random);
  const raw = { width: image.width, height: image.height, channels: 3 };
  return sharp(image.data, { raw })
    .jpeg({ quality: Math.round(random.uniform(60, 92)) })
    .toBuffer();
}

/** A camera whose frames are compared by the evidence of the viewpoint alone. */
function cameraOf(before) {
  const step = sequenceOf({ before }, async (input) => {
    const [old, present] = await Promise.all(
      ['before', 'after'].map((side) => decodeFrame(input[side], { ...LIMITS, field: side })),
    );
    const evidence = examine(old, present);
    const tampers = [{ name: 'foreign_picture', score: evidence.tampers.turned }];
    const finding = showsOtherView(evidence) ? tamperedFinding(tampers) : identicalFinding();
    return { finding, heatmaps: null, timings: {} };
  });
  return async (bytes) => {
    const { finding, state, earlier, changes } = await step(bytes);
    const held = isDeepStrictEqual([state.before, state.backgrounds], [earlier.before, earlier.backgrounds]);
    return { name: finding.tamper?.[0]?.name ?? 'scene', held, changes: changes.length };
  };
}

const counts = {};
const count = (half, key, right) => {
  counts[key] ??= { first: [0, 0], second: [0, 0] };
  const row = counts[key][half];
  row[0] += right ? 1 : 0;
  row[1] += 1;
};

for (let n = 0; n < Number(values.sequences); n++) {
  const random = seededRandom(`views ${n}`);
  const pick = (list) => list[Math.floor(random.uniform(0, list.length))];
  const half = n % 2 === 0 ? 'first' : 'second';
  const ofHalf = names.filter((_, i) => (i % 2 === 0) === (half === 'first'));
  const name = ofHalf[Math.floor(n / 2) % ofHalf.length];
  const other = pick(ofHalf.filter((one) => one !== name));
  const [kind, foreign] = Object.entries(KINDS)[Math.floor(n / 2) % 4];
  const pair = pick(cameras.get(name));
  const size = await load(pair[0], WIDTH);
  const variant = () => (random.uniform(0, 1) < 0.5 ? pick(ALTERED) : null);
  const step = cameraOf(n % 4 < 2 ? 'previous' : 'memory');
  const ofCamera = async (file, altered) => step(await picture(file, size, altered, random));
  await ofCamera(pair[0], null);
  for (const file of [pair[0], pair[1]]) {
    count(
      half,
      'own frames called foreign (light, IR switch, weather)',
      (await ofCamera(file, variant())).name !== 'scene',
    );
  }
  const shown = pick(cameras.get(other));
  const altered = variant();
  for (let i = 0; i < foreign; i++) {
    const { name: found, held, changes } = await step(await picture(shown[0], size, altered, random));
    if (i < 2) count(half, 'foreign pictures found', found === 'foreign_picture');
    if (i < 2) count(half, 'foreign pictures that became "before" or changed something', !held || changes > 0);
    if (i === 2) count(half, 'new views that replaced the baseline at the third frame', found === 'turned' && !held);
    if (i === 3) count(half, 'fourth frames of a new view compared with it', found === 'scene');
  }
  if (foreign === 4) continue;
  for (const file of [pair[1], pair[0]]) {
    const { name: found } = await ofCamera(file, null);
    count(
      half,
      foreign > 0 ? 'own frames after a foreign one called foreign' : `${kind}: own frames called foreign`,
      found !== 'scene',
    );
  }
}

const shown = ([right, all]) => `${right} of ${all}`;
report(
  'views',
  'Pictures of other cameras',
  [
    ['frames', 'first half of the cameras', 'second half'],
    ...Object.entries(counts).map(([key, { first, second }]) => [key, shown(first), shown(second)]),
  ],
  [`${values.sequences} sequences of ${names.length} real cameras; the threshold was chosen on the first half.`],
);
