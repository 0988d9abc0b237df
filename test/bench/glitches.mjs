/**
 * `npm run bench -- glitches --data=FOLDER [--every=1] [--width=1280] [--pictures=FOLDER] [--cost | --write]`: lost
 * parts of frames that `findLosses` finds, and whole frames that it calls damaged, on real pairs of fixed cameras.
 * Frames are reduced to `--width` and coded as JPEG after the damage. `--pictures` writes those that are wrong.
 * `--cost` measures the CPU time of the search in place of its errors, beside that of all evidence of the same pairs.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';
import { examine } from '../../dist/viewpoint/examine.js';
import { findLosses } from '../../dist/viewpoint/lost.js';
import { jpeg, load, resized } from '../../scripts/lib/images.mjs';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { NUISANCE_VARIANTS } from '../../scripts/lib/variants.mjs';
import { GLITCHES } from './lib/glitches.mjs';
import { percentile, report } from './lib/report.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  every: { type: 'string', default: '1' },
  width: { type: 'string', default: '1280' }, // the working width of the pipeline
  pictures: { type: 'string' },
  cost: { type: 'boolean' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const folder = dataFolder(values.data);
/** Shares of the view that are lost. */
const SHARES = [0.05, 0.1, 0.2, 0.4, 0.6];
const WHOLE = ['gain', 'gamma', 'ir', 'shadow', 'rain', 'fog', 'snow', 'jpeg', 'noise'];
const WIDTH = Number(values.width);
const [COST_PAIRS, COST_ROUNDS] = [20, 6];
if (values.pictures !== undefined) mkdirSync(values.pictures, { recursive: true });

const pairs = ['dev_pairs', 'dev2_pairs', 'real_train']
  .flatMap((set) =>
    readFileSync(join(folder, set, 'pairs.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ before, after, id }) => ({
        name: `${set}-${id}`,
        files: [before, after].map((file) => join(folder, set, file)),
      })),
  )
  .filter((_, i) => i % Number(values.every) === 0);

const counts = new Map();
const times = [];
let shareError = 0;

async function judge(name, row, frame, other, expected) {
  const started = performance.now();
  const lost = findLosses(other, frame).after;
  times.push(performance.now() - started);
  const { found, all } = counts.get(row) ?? { found: 0, all: 0 };
  counts.set(row, { found: found + (lost === null ? 0 : 1), all: all + 1 });
  if ((lost !== null) !== expected && values.pictures !== undefined) await draw(`${row}-${name}`, frame, lost);
  return lost;
}

/** Other programs on the machine alter CPU time less than wall time; both halves alternate. */
async function measureCost() {
  const spent = { search: 0, evidence: 0 };
  const cpuMs = (work) => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const frames = [];
  for (const { files } of pairs.slice(0, COST_PAIRS)) {
    const before = await load(files[0], WIDTH);
    frames.push([before, await resized(await load(files[1], WIDTH), before)]);
  }
  for (let round = 0; round < COST_ROUNDS; round++) {
    for (const pair of frames) {
      const [search, evidence] = [cpuMs(() => findLosses(...pair)), cpuMs(() => examine(...pair))];
      // The first round also compiles.
      if (round === 0) continue;
      spent.search += search;
      spent.evidence += evidence;
    }
  }
  const [search, evidence] = [spent.search, spent.evidence].map((all) => all / frames.length / (COST_ROUNDS - 1));
  console.log(`CPU-ms per pair: search ${search.toFixed(2)}, all evidence with it ${evidence.toFixed(2)}`);
}

async function draw(name, { width, height, data }, lost) {
  const boxes = (lost?.lost ?? []).map(
    ({ x, y, width: w, height: h }) =>
      `<rect x="${x * width}" y="${y * height}" width="${w * width}" height="${h * height}" fill="none" stroke="red"/>`,
  );
  await sharp(data, { raw: { width, height, channels: 3 } })
    .composite([{ input: Buffer.from(`<svg width="${width}" height="${height}">${boxes.join('')}</svg>`) }])
    .png()
    .toFile(join(values.pictures, `${name.replaceAll(/\W+/g, '-')}.png`));
}

if (values.cost) {
  await measureCost();
  process.exit();
}
for (const { name, files } of pairs) {
  const random = seededRandom(name);
  const before = await load(files[0], WIDTH);
  const after = await resized(await load(files[1], WIDTH), before);
  await judge(name, 'whole: the pair', after, before, false);
  await judge(name, 'whole: the pair exchanged', before, after, false);
  for (const variant of WHOLE) {
    const altered = await jpeg(await NUISANCE_VARIANTS[variant].make(after, random), 75);
    await judge(name, `whole: ${variant}`, altered, before, false);
  }
  for (const [glitch, make] of Object.entries(GLITCHES)) {
    const share = SHARES[Math.floor(random.uniform(0, SHARES.length))];
    const damaged = await jpeg(make(after, share, random), Math.round(random.uniform(60, 92)));
    const lost = await judge(name, `${glitch}, ${share * 100} %`, damaged, before, true);
    shareError += lost === null ? 0 : Math.abs(lost.share - share);
  }
}

const isWhole = (row) => row.startsWith('whole');
const shareOf = (row) => Number(/(\d+) %$/.exec(row)?.[1]);
const rate = (test) => {
  const rows = [...counts].filter(([row]) => test(row)).map(([, row]) => row);
  const [found, all] = ['found', 'all'].map((key) => rows.reduce((sum, row) => sum + row[key], 0));
  return `${found} of ${all}`;
};
const [, ...found] = /^(\d+) of/.exec(rate((row) => !isWhole(row))) ?? [];
report(
  'glitches',
  'Lost parts of frames',
  [
    ['frames', 'called damaged'],
    ['damaged, 10 % and more', rate((row) => !isWhole(row) && shareOf(row) >= 10)],
    ['damaged, 20 % and more', rate((row) => !isWhole(row) && shareOf(row) >= 20)],
    ['whole', rate(isWhole)],
    ...[...counts.keys()].sort().map((row) => [row, rate((one) => one === row)]),
  ],
  [
    `${pairs.length} pairs of real cameras; each is damaged in ${Object.keys(GLITCHES).length} ways, of a random share.`,
    `The share of a found loss is wrong by ${((100 * shareError) / Number(found[0])).toFixed(1)} % of the frame on average.`,
    `p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms.`,
  ],
);
