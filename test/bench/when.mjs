/**
 * `npm run bench -- when [--pairs=FOLDER[,FOLDER]] [--count=20] [--keep=FOLDER] [--write]`: `scenedelta when` on
 * recordings of an hour, in each of which one place changes once, or something covers it for a while. Looks beside
 * 2 log2(n), and whether the interval is the right one.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { uniformNumbers } from '../../dist/base/random.js';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { encode, ffmpeg, fractions, scenesOf } from './lib/footage-video.mjs';
import { report } from './lib/report.mjs';

const { values } = readOptions({
  ...{ pairs: { type: 'string' }, count: { type: 'string' }, keep: { type: 'string' }, write: { type: 'boolean' } },
});
const count = Number(values.count ?? 20);
const HOUR = 3600;
/** Seconds per part of a recording; the parts are coded once and copied. */
const PART = 20;
const RATE = 5;
/** Seconds of a part in which something stands before the place. */
const COVERED = { from: 0, until: 15 };
/** Number of the part in which the search begins. */
const MIDDLE = HOUR / 2 / PART;

const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'sd-when-'));
mkdirSync(folder, { recursive: true });
const next = uniformNumbers(17);

/** Something that stands close to the camera, before the whole place. */
async function coverOf({ picture, box }) {
  const shade = await sharp(picture).flop().modulate({ hue: 180, brightness: 0.6 }).flatten().toBuffer();
  return { picture: await sharp(shade).resize(box.width, box.height).png().toBuffer(), box };
}

async function part(name, base, shown) {
  const file = join(folder, `${name}.mp4`);
  if (!existsSync(file)) await encode(file, base, shown, { seconds: PART, rate: RATE });
  return file;
}

/** @param {string[]} files the parts in their order */
function joined(files) {
  const [list, file] = [join(folder, 'list.txt'), join(folder, 'hour.mp4')];
  writeFileSync(list, files.map((name) => `file '${name}'`).join('\n'));
  ffmpeg(['-f', 'concat', '-safe', '0', '-i', list, '-c', 'copy', file]);
  return file;
}

function when(file, box) {
  const { x, y, width, height } = fractions(box);
  const roi = [x, y, width, height].map((side) => side.toFixed(4)).join(',');
  const args = ['when', file, '--roi', roi, '--start', '2026-06-01T12:00:00Z', '--json'];
  return JSON.parse(execFileSync('bin/scenedelta.js', args, { cwd: ROOT, encoding: 'utf8' }));
}

const scenes = await scenesOf(values.pairs);
const places = scenes.flatMap(({ name, base, things }) =>
  (values.pairs === undefined ? things : things.slice(0, 1)).map((thing, i) => ({ name: `${name}-${i}`, base, thing })),
);
const rows = [];
const totals = { right: 0, looks: 0, still: 0, stills: 0 };
const problems = [];
let most = 0;
for (let i = 0; i < count; i++) {
  const { name, base, thing } = places[i % places.length];
  const cover = await coverOf(thing);
  const always = { ...thing, from: 0, until: PART };
  const empty = await part(`${name}-empty`, base, []);
  const full = await part(`${name}-full`, base, [always]);
  const covered = [
    await part(`${name}-empty-covered`, base, [{ ...cover, ...COVERED }]),
    await part(`${name}-full-covered`, base, [always, { ...cover, ...COVERED }]),
  ];
  const at = Math.floor(1 + next() * (HOUR - 2)) + 0.4;
  const number = Math.floor(at / PART);
  const change = await part(`${name}-change-${i}`, base, [{ ...thing, from: at % PART, until: PART }]);
  const hides = i % 2 === 1 && number !== MIDDLE;
  const parts = Array.from({ length: HOUR / PART }, (_, j) => {
    if (j === number) return change;
    if (hides && j === MIDDLE) return covered[j < number ? 0 : 1];
    return j < number ? empty : full;
  });
  const result = when(joined(parts), thing.box);
  most = Math.floor(2 * Math.log2(result.frames));
  const [from, to] = [result.changed?.before.seconds ?? Number.NaN, result.changed?.after.seconds ?? Number.NaN];
  const isRight = from < at && at <= to && to - from <= 1 && result.changed_back === null;
  if (isRight) totals.right++;
  totals.looks = Math.max(totals.looks, result.looks);
  if (!isRight) problems.push(`${name}: the change at ${at} s was placed between ${from} s and ${to} s.`);
  rows.push([
    name,
    `${at} s`,
    hides ? 'yes' : 'no',
    `${from} to ${to} s`,
    String(result.looks),
    isRight ? 'yes' : 'no',
  ]);
  console.error(rows.at(-1).join(' | '));
  if (i < places.length && i < 4) {
    const still = when(
      joined(Array.from({ length: HOUR / PART }, (_, j) => (j === MIDDLE ? covered[0] : empty))),
      thing.box,
    );
    totals.stills++;
    if (still.changed === null) totals.still++;
    else problems.push(`${name}: covered for a while, and taken for changed at ${still.changed.after.seconds} s.`);
    const found = still.changed === null ? 'nothing' : `${still.changed.before.seconds} s`;
    rows.push([name, 'never', 'yes', found, String(still.looks), still.changed === null ? 'yes' : 'no']);
    console.error(rows.at(-1).join(' | '));
  }
}
if (values.keep === undefined) rmSync(folder, { recursive: true });
const all = `${totals.right}/${count} changes, ${totals.still}/${totals.stills} without one`;
rows.push(['all', '', '', all, `at most ${totals.looks} of ${most}`, '']);
report(
  'when',
  'When did a place change: recordings of an hour with one change',
  [['place', 'changes at', 'covered in the middle', 'found', 'looks', 'right'], ...rows],
  [
    `1080p H.264, ${RATE} frames per second; n = ${HOUR} frames, one per second, 2 log2(n) = ${most}. Right: the change lies ` +
      'between two neighbouring frames that were found, and no way back was found. Covered: something stands before the ' +
      `whole place for ${COVERED.until} s in the middle of the hour, in which the search begins.`,
    ...problems,
  ],
);
