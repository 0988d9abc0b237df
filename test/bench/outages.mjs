/**
 * `npm run bench -- outages --data=FOLDER [--frames=2000] [--write]`: damaged frames between whole ones of real cameras
 * through `stepSequence`. The lost parts are those of `findLosses`; in place of the model, each difference is a change:
 * the damage itself, and the things of the pair where they are not lost. No change may open by damage, and each thing
 * that came during an outage must be reported after it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';
import { decodeFrame } from '../../dist/frames/decode.js';
import { identicalFinding, lostFinding } from '../../dist/pipeline/finding.js';
import { isUnusable, lostOf, outsideOf } from '../../dist/pipeline/lost-parts.js';
import { findLosses } from '../../dist/viewpoint/lost.js';
import { load, resized } from '../../scripts/lib/images.mjs';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { GLITCHES } from './lib/glitches.mjs';
import { report } from './lib/report.mjs';
import { sequenceOf } from './lib/step-sequence.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  frames: { type: 'string', default: '2000' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const folder = dataFolder(values.data);
const WIDTH = 640;
const SHARES = [0.1, 0.2, 0.4, 0.6];
/** Frames in a row that are damaged in one way, as many as confirm a change, and one more in an outage. */
const IN_A_ROW = 2;
const OUTAGE = 3;
const LIMITS = { pixelLimit: 50_000_000 };

const pairs = ['dev_pairs', 'dev2_pairs', 'real_train'].flatMap((set) =>
  readFileSync(join(folder, set, 'pairs.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((pair) => ({ ...pair, files: [pair.before, pair.after].map((file) => join(folder, set, file)) })),
);
const unchanged = pairs.filter(({ verdict }) => verdict === 'none');
const appeared = pairs.filter(({ kind }) => kind === 'appear');

/** Content of each frame, by the sha256 of its bytes. */
const shown = new Map();
const region = (box, id) => ({ id, side: 'after', box, area: box.width * box.height, score: 0.9 });

async function compare(input) {
  const [before, after] = await Promise.all(
    ['before', 'after'].map((side) => decodeFrame(input[side], { ...LIMITS, field: side })),
  );
  const lost = lostOf({ before, after }, { lost: findLosses(before, after) });
  if (lost !== null && isUnusable(lost) && lost.side === 'after') return { finding: lostFinding(lost), timings: {} };
  const [was, is] = [shown.get(input.beforeKey), shown.get(input.afterKey)];
  const boxes = [
    ...(is.damage === null ? [] : [is.damage]),
    ...is.things.filter((thing) => !was.things.includes(thing)),
  ];
  const regions = outsideOf(boxes.map(region), lost?.boxes);
  const found = regions.length === 0 ? {} : { verdict: 'change', kind: 'appear', confidence: 0.95, regions };
  const finding = { ...identicalFinding(), ...found, ...(lost === null ? {} : { lost }) };
  return { finding, heatmaps: null, timings: {} };
}

/** The rectangle around the pixels that the damage altered, in fractions of the frame. */
function alteredBox({ width, height, data }, damaged) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let i = 0; i < width * height; i++) {
    if (data[3 * i] === damaged.data[3 * i] && data[3 * i + 1] === damaged.data[3 * i + 1]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return { x: left / width, y: top / height, width: (right - left + 1) / width, height: (bottom - top + 1) / height };
}

const counts = { damaged: 0, opened: 0, tampering: 0, outages: 0, reported: 0, early: 0 };

/** @param things boxes of the second picture, fractions of the frame */
async function play(pair, damages, before, random, things) {
  const first = await load(pair.files[0], WIDTH);
  const second = await resized(await load(pair.files[1], WIDTH), first);
  const step = sequenceOf({ before }, compare, (sha256, shows) => shown.set(sha256, shows));
  const jpegOf = ({ width, height, data }) =>
    sharp(data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: Math.round(random.uniform(60, 92)) })
      .toBuffer();
  const send = async (image, shows) => {
    const { changes } = await step(await jpegOf(image), shows);
    return changes.filter(({ event }) => event === 'change.opened').map(({ change }) => change.kind);
  };
  for (let i = 0; i < 2; i++) await send(first, { things: [], damage: null });
  const opened = [];
  for (const { glitch, times } of damages) {
    const share = SHARES[Math.floor(random.uniform(0, SHARES.length))];
    for (let i = 0; i < times; i++) {
      const damaged = GLITCHES[glitch](second, share, random);
      const kinds = await send(damaged, { things, damage: alteredBox(second, damaged) });
      if (things.length === 0 && kinds.some((kind) => kind !== 'tamper')) console.error(glitch, share, pair.files[1]);
      opened.push(...kinds);
    }
  }
  const after = [];
  for (let i = 0; i < 2; i++) after.push(...(await send(second, { things, damage: null })));
  return { opened: opened.filter((kind) => kind !== 'tamper'), tampered: opened.includes('tamper'), after };
}

const glitches = Object.keys(GLITCHES);
for (let n = 0; counts.damaged < Number(values.frames); n++) {
  const random = seededRandom(`outages ${n}`);
  const before = n % 2 === 0 ? 'previous' : 'memory';
  const damages = glitches.map((glitch) => ({ glitch, times: IN_A_ROW }));
  const { opened, tampered, after } = await play(unchanged[n % unchanged.length], damages, before, random, []);
  counts.damaged += IN_A_ROW * damages.length;
  counts.opened += [...opened, ...after].filter((kind) => kind !== 'tamper').length;
  counts.tampering += tampered ? 1 : 0;
}
for (const [n, pair] of appeared.entries()) {
  const random = seededRandom(`appeared ${n}`);
  const { width, height } = await sharp(pair.files[1]).metadata();
  const boxes = pair.boxes_after ?? pair.objects.flatMap((object) => object.boxes_after ?? []);
  const things = boxes.map(([x, y, w, h]) => ({ x: x / width, y: y / height, width: w / width, height: h / height }));
  if (things.length === 0) continue;
  const damages = [{ glitch: glitches[n % glitches.length], times: OUTAGE }];
  const played = await play(pair, damages, n % 2 === 0 ? 'previous' : 'memory', random, things);
  counts.outages++;
  if (played.opened.length > 0) counts.early++;
  if (played.opened.length > 0 || played.after.includes('appear')) counts.reported++;
}

report(
  'outages',
  'Damaged frames in a sequence',
  [
    ['measure', 'count'],
    ['damaged frames of views that show nothing', String(counts.damaged)],
    ['changes that they opened', String(counts.opened)],
    ['sequences of them with tampering', String(counts.tampering)],
    ['outages in which a thing came', String(counts.outages)],
    ['of them reported', `${counts.reported} (${counts.early} beside the lost part, during the outage)`],
  ],
  [
    `${IN_A_ROW} damaged frames in a row in ${glitches.length} ways, ${SHARES.map((share) => share * 100).join(', ')} % lost.`,
  ],
);
