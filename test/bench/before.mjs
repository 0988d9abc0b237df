/**
 * `npm run bench -- before --data=FOLDER [--out=FOLDER] [--half=odd] [--write]`: false changes of the modes `previous`
 * and `memory` on cameras that show nothing new. The frames of each unchanged real pair make a sequence with one kind
 * of nuisance, which goes through `scenedelta footage` with default settings, and its evidence through the alerts of a
 * live camera. `--half`: even or odd pairs alone.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';
import { mapPixels } from '../../dist/lab/figures/nuisances.js';
import { view } from '../../scripts/lib/camera-view.mjs';
import { load, resized } from '../../scripts/lib/images.mjs';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { grain, NUISANCE_VARIANTS } from '../../scripts/lib/variants.mjs';
import { report } from './lib/report.mjs';

const { values } = readOptions({
  data: { type: 'string' },
  out: { type: 'string' },
  half: { type: 'string' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const WIDTH = 640;
const START = Date.UTC(2026, 5, 1, 12);
/** Seconds between two frames: of a camera that is watched, and of one that sends a picture now and then. */
const STEPS = [10, 300];
/** Frames: undisturbed, a disturbance, undisturbed, another disturbance, undisturbed. */
const PARTS = [8, 10, 6, 10, 6];
const RAMP = 3;
const INFRARED_UNTIL = 7;
/** The nuisances from which the disturbances of a sequence are drawn, by its kind. */
const KINDS = {
  none: [],
  light: ['gain', 'gamma', 'shadow'],
  weather: ['rain', 'fog', 'snow', 'noise'],
  infrared: ['ir'],
  dusk: ['dusk'],
  shake: ['shake'],
  bump: ['bump'],
};
/** Nuisances that every frame shows otherwise. The others keep their parameters while they last. */
const FRESH = ['rain', 'snow', 'noise'];

const mix = (a, b, share) => mapPixels(a, (value, _c, _x, _y, i) => value + share * (b.data[i] - value));

/** Frame `at` of a disturbance, of this share of its strength. Dusk ends in frames by infrared. */
async function disturbed(image, name, { seed, at, share }) {
  if (name === 'dusk' && at < RAMP) return dimmed(image, share);
  if (name === 'dusk' && at >= INFRARED_UNTIL) return dimmed(image, 0.8);
  const variant = name === 'dusk' ? 'ir' : name;
  const random = seededRandom(FRESH.includes(name) ? `${seed} ${at}` : seed);
  const altered = await NUISANCE_VARIANTS[variant].make(image, random);
  return variant === 'ir' ? altered : mix(image, altered, share);
}
const dimmed = (image, share) => mapPixels(image, (value, c) => value * (1 - 0.85 * share) * [1, 0.97, 0.92][c]);

/** Writes the frames of one camera: the same bytes at every call. */
async function writeSequence(folder, [first, second], kind, step) {
  const random = seededRandom(basename(folder));
  mkdirSync(folder, { recursive: true });
  const scene = await load(first, WIDTH);
  const other = await resized(await load(second, WIDTH), scene);
  const names = KINDS[kind];
  let n = 0;
  for (const [part, length] of PARTS.entries()) {
    const disturbs = part % 2 === 1 && names.length > 0;
    const name = disturbs ? names[Math.floor(random.uniform(0, names.length))] : null;
    for (let at = 0; at < length; at++, n++) {
      let image = part === 2 || part === 3 ? other : scene;
      if (kind === 'shake' || kind === 'bump') image = view(image, motionOf(kind, part, random)).image;
      else if (name !== null) {
        const share = Math.min(1, (at + 1) / RAMP, (length - at) / RAMP);
        image = await disturbed(image, name, { seed: `${basename(folder)} ${part}`, at, share });
      }
      const { width, height, data } = grain(image, 2, random);
      const time = new Date(START + n * step * 1000).toISOString().slice(0, 19).replaceAll(':', '-');
      const quality = Math.round(random.uniform(70, 92));
      await sharp(data, { raw: { width, height, channels: 3 } })
        .jpeg({ quality })
        .toFile(join(folder, `${time}Z.jpg`));
    }
  }
}

/** A mast that sways by up to 0.5 % of the width, and a camera that was pushed by 2 % and stays so. */
function motionOf(kind, part, random) {
  if (kind === 'bump') return part === 0 ? null : { x: 0.02 * WIDTH, y: 0.008 * WIDTH };
  if (part % 2 === 0) return null;
  const sway = () => random.uniform(-0.005, 0.005) * WIDTH;
  return { x: sway(), y: sway(), degrees: random.uniform(-0.2, 0.2) };
}

function pairsOf(data) {
  return ['dev_pairs', 'dev2_pairs', 'real_train'].flatMap((set) =>
    readFileSync(join(data, set, 'pairs.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ verdict, made }) => verdict === 'none' && made !== true)
      .map(({ id, before, after }) => ({ id, files: [before, after].map((file) => join(data, set, file)) })),
  );
}

/** @returns what `scenedelta footage` finds in all sequences in this mode, and the alerts that it would have caused */
function run(folder, before) {
  const [frames, settings] = [join(folder, 'frames'), join(folder, `${before}.json`)];
  const [out, dry] = [join(folder, `out-${before}`), join(folder, `dry-${before}`)];
  writeFileSync(settings, JSON.stringify({ before }));
  const footage = (...args) =>
    execFileSync(process.execPath, [join(ROOT, 'bin/scenedelta.js'), 'footage', ...args, '-c', settings], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  footage(frames, '-q', '--restart', '-d', out);
  footage(out, '-q', '--from-stats', '-d', dry);
  const records = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
  return { alerts: records(join(dry, 'alerts.ndjson')), stats: records(join(out, 'stats.ndjson')) };
}

const isChosen = (i) => values.half === undefined || (i % 2 === 0 ? 'even' : 'odd') === values.half;
const pairs = pairsOf(dataFolder(values.data)).filter((_, i) => isChosen(i));
const folder = values.out ?? mkdtempSync(join(tmpdir(), 'sd-before-'));
const rows = [];
try {
  const kinds = Object.keys(KINDS);
  const cameras = [];
  for (const [i, { id, files }] of pairs.entries()) {
    for (const [j, step] of STEPS.entries()) {
      const kind = kinds[(i + 3 * j) % kinds.length];
      const name = `${kind}-${step}-${id}`.replaceAll('_', '');
      cameras.push({ kind, step, name });
      const path = join(folder, 'frames', name);
      if (!existsSync(path)) await writeSequence(path, files, kind, step);
    }
  }
  const runs = ['previous', 'memory'].map((before) => run(folder, before));
  for (const kind of kinds) {
    const of = cameras.filter((camera) => camera.kind === kind).map(({ name }) => name);
    const counts = runs.flatMap(({ alerts, stats }) => [
      alerts.filter(({ camera, type }) => of.includes(camera) && type === 'change.opened').length,
      alerts.filter(({ camera, type }) => of.includes(camera) && type === 'change.reverted').length,
      stats.filter(({ camera, finding }) => of.includes(camera) && finding?.verdict === 'change').length,
      stats.filter(({ camera, examined }) => of.includes(camera) && examined).length,
    ]);
    rows.push([kind, of.length, of.length * PARTS.reduce((sum, length) => sum + length, 0), ...counts].map(String));
  }
} finally {
  if (values.out === undefined) rmSync(folder, { recursive: true });
}
const columns = (mode) => [`${mode}: opened`, 'reverted', 'frames "change"', 'examined'];
const all = rows.reduce((sum, row) => sum.map((value, i) => value + Number(row[i + 1])), Array(10).fill(0));
report(
  'before',
  'Cameras that show nothing new',
  [
    ['nuisance', 'cameras', 'frames', ...columns('previous'), ...columns('memory')],
    ...rows,
    ['all', ...all.map(String)],
  ],
  [
    `${pairs.length} unchanged pairs of real cameras, each with two of the nuisances, with a frame per ${STEPS[0]} s and ` +
      `per ${STEPS[1]} s. "none" has sensor noise and coding alone.`,
  ],
);
