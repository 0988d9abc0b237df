/** How the cost of one pair grows with the size of its frames, and with the number of things that changed in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { scenesOf } from '../lib/footage-video.mjs';
import { fresh, pairsOfHeight } from '../lib/pairs.mjs';
import { ms, percentile } from '../lib/report.mjs';
import { dist } from '../lib/service.mjs';

const HEIGHTS = [480, 720, 1080, 1440, 2160];
const THINGS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20];
const ROUNDS = 12;
const LAYOUTS = 4;
/** Threads compile their code in these rounds. */
const WARM_UP = 30;
const QUALITY = 88;

async function withPipeline(use) {
  const { loadConfig } = await dist('process/config.js');
  const { createLogger } = await dist('process/logger.js');
  const { Pipeline } = await dist('pipeline/compare.js');
  const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
  const config = { ...loadConfig(), dataDir };
  const pipeline = await Pipeline.start({ config, logger: createLogger({ level: 'warn', name: 'bench' }) });
  const compare = (pair) => pipeline.compare({ before: fresh(pair.before), after: fresh(pair.after) });
  try {
    const [pair] = await pairsOfHeight(1080);
    for (let i = 0; i < WARM_UP; i++) await compare(pair);
    return await use(compare, config);
  } finally {
    await pipeline.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * CPU-ms of this process with all its threads. The groups take turns, so that code that becomes faster and other work
 * on the machine concern all of them alike.
 * @param {object[][]} groups @returns {Promise<number[]>} the median of `work` over the pairs of each group
 */
async function cpuOf(groups, work, rounds) {
  const spent = groups.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, pairs] of groups.entries()) {
      for (const pair of pairs) {
        const before = process.cpuUsage();
        await work(pair);
        const { user, system } = process.cpuUsage(before);
        spent[i].push((user + system) / 1000);
      }
    }
  }
  return spent.map((values) => percentile(values, 0.5));
}

const WHOLE = 'whole pair';
const DECODING = 'decoding alone';
const WIDTH = 'width decoded, px';

export const frames = {
  name: 'frames',
  title: 'Size of the frames',
  x: { label: 'height of the frames (16:9), px', type: 'linear', ticks: HEIGHTS, text: String },
  y: { label: 'CPU-ms per changed pair', type: 'linear' },
  series: [WHOLE, DECODING],
  columns: { [WIDTH]: String },
  measure: () =>
    withPipeline(async (compare, config) => {
      const { decodeFrame } = await dist('frames/decode.js');
      const decode = (bytes) => decodeFrame(bytes, { ...config, field: 'frame' });
      const groups = await Promise.all(HEIGHTS.map(pairsOfHeight));
      const both = ({ before, after }) => decode(before).then(() => decode(after));
      const [decoding, compared] = [await cpuOf(groups, both, ROUNDS), await cpuOf(groups, compare, ROUNDS)];
      const widths = await Promise.all(groups.map(async ([{ before }]) => (await decode(before)).width));
      return HEIGHTS.map((x, i) => ({ x, [WHOLE]: compared[i], [DECODING]: decoding[i], [WIDTH]: widths[i] }));
    }),
  sentence(rows) {
    const [first, last] = [rows[0], rows.at(-1)];
    const pixels = ((last.x / first.x) ** 2).toFixed(0);
    const rest = rows.map((row) => row[WHOLE] - row[DECODING]);
    return (
      `From 480p to 4K the pixels grow ${pixels} times and the cost ${(last[WHOLE] / first[WHOLE]).toFixed(1)} times. ` +
      'It bends above a width of 1280 px: the JPEG decoder halves a wider frame until it fits. So decoding grows, from ' +
      `${ms(first[DECODING])} to ${ms(last[DECODING])} CPU-ms, and the steps after it cost ${ms(Math.min(...rest))} to ` +
      `${ms(Math.max(...rest))} CPU-ms at every size.`
    );
  },
};

/** A scene with copies of a thing at the first `count` cells of a grid, which a layout shuffles. */
async function crowded({ base, picture, grid }, count) {
  const things = grid.slice(0, count).map(({ left, top }) => ({ input: picture, left, top }));
  const jpeg = (composites) =>
    sharp(base, { raw: { width: 1920, height: 1080, channels: 3 } })
      .composite(composites)
      .jpeg({ quality: QUALITY })
      .toBuffer();
  return { before: await jpeg([]), after: await jpeg(things) };
}

const COLUMNS = 7;
const LINES = 3;
/** Size of a pasted thing beside the cut-out, so that neighbours stay apart. */
const SCALE = 0.6;

async function layouts() {
  const { seededRandom } = await dist('base/random.js');
  const [{ base, things }] = await scenesOf();
  const [{ picture, box }] = things;
  const [width, height] = [box.width, box.height].map((side) => Math.round(side * SCALE));
  const small = await sharp(picture).resize(width, height).png().toBuffer();
  const cells = Array.from({ length: COLUMNS * LINES }, (_, i) => ({
    left: Math.round(((i % COLUMNS) + 0.5) * (1920 / COLUMNS) - width / 2),
    top: Math.round((Math.floor(i / COLUMNS) + 0.5) * (1080 / LINES) - height / 2),
  }));
  return Array.from({ length: LAYOUTS }, (_, layout) => {
    const random = seededRandom(`layout ${layout}`);
    const grid = cells.map((cell) => ({ cell, at: random.uniform(0, 1) })).sort((a, b) => a.at - b.at);
    return { base, picture: small, grid: grid.map(({ cell }) => cell) };
  });
}

const REGIONS = 'regions found';
const STATED = 'things stated';

export const things = {
  name: 'things',
  title: 'Things that changed',
  x: { label: 'things that appeared in a 1080p pair', type: 'linear', ticks: [1, 5, 10, 15, 20] },
  y: { label: 'CPU-ms per changed pair', type: 'linear' },
  series: [WHOLE],
  columns: { [REGIONS]: String, [STATED]: String },
  measure: () =>
    withPipeline(async (compare) => {
      const scenes = await layouts();
      const groups = await Promise.all(
        THINGS.map((count) => Promise.all(scenes.map((scene) => crowded(scene, count)))),
      );
      const found = new Map();
      const compared = await cpuOf(groups, async (pair) => found.set(pair, (await compare(pair)).finding), ROUNDS / 2);
      return groups.map((pairs, i) => {
        const median = (of) =>
          percentile(
            pairs.map((pair) => of(found.get(pair)).length),
            0.5,
          );
        const [regions, stated] = [median((finding) => finding.regions), median((finding) => finding.facts ?? [])];
        return { x: THINGS[i], [WHOLE]: compared[i], [REGIONS]: regions, [STATED]: stated };
      });
    }),
  sentence(rows) {
    const [first, last] = [rows[0], rows.at(-1)];
    const described = last[STATED];
    const bend = rows.find(({ x }) => x === described);
    return (
      `Each thing costs ${ms((bend[WHOLE] - first[WHOLE]) / (described - 1))} CPU-ms more, for its crops and its ` +
      `statement. It bends at ${described}: at most ${described} places are described, and the others only counted, so ` +
      `that ${last.x} things cost ${(last[WHOLE] / bend[WHOLE]).toFixed(2)} times as much as ${described}.`
    );
  },
};
