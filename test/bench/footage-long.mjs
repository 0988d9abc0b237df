/**
 * `npm run bench -- footage-long [--frames=100000] [--pictures=20000] [--keep=FOLDER] [--write]`: memory of `scenedelta
 * footage` over many frames of 1080p video, and a folder of pictures in the layout of Frigate: two cameras over four
 * days, with the pauses of the nights between them.
 */
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { readOptions } from '../../scripts/lib/options.mjs';
import { footage } from './lib/footage-run.mjs';
import { partOf, scenesOf, writeRecording } from './lib/footage-video.mjs';
import { mb, report } from './lib/report.mjs';

const { values } = readOptions({
  ...{ frames: { type: 'string' }, pictures: { type: 'string' }, keep: { type: 'string' }, write: { type: 'boolean' } },
});
const frames = Number(values.frames ?? 100_000);
const pictures = Number(values.pictures ?? 20_000);
const PARTS = 4;
const DAYS = 4;
const CAMERAS = ['gate', 'yard'];
/** Seconds between two pictures. */
const INTERVAL = 2;
const MORNING = Date.UTC(2026, 5, 1, 8);
const DAY_MS = 86_400_000;
/** Pictures of each view that differ by their noise. */
const VARIANTS = 8;

const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'sd-long-'));
mkdirSync(folder, { recursive: true });
const [scene] = await scenesOf(undefined);
const rows = [frames > 0 ? await video() : [], pictures > 0 ? await layout() : []].filter(({ length }) => length > 0);
if (values.keep === undefined) rmSync(folder, { recursive: true });
report(
  'footage-long',
  'Footage: memory over many frames, and a folder of pictures with pauses',
  [
    ['input', 'frames', 'compared', 'changes', 'wrong', 'time', 'frames/s', `peak memory in ${PARTS} parts of the run`],
    ...rows,
  ],
  [
    'Memory of the command and its ffmpeg. Video: 1080p, key frames alone, in files of 6 minutes. Pictures: 960 x 540, ' +
      `every ${INTERVAL} s, by the template \`frigate\`; a thing stands there at the end of each day, and not on the ` +
      'next morning. Wrong: another number of changes than things that came, or a change that spans a night.',
  ],
);

function rowOf(name, { wall, peaks, cameras, changes }, wrong) {
  const sum = (key) => cameras.reduce((total, camera) => total + camera[key], 0);
  const counts = [String(sum('frames')), String(sum('examined')), String(changes.length), String(wrong)];
  const row = [name, ...counts, `${wall.toFixed(0)} s`, (sum('frames') / wall).toFixed(0), peaks.map(mb).join(', ')];
  console.error(row.join(' | '));
  return row;
}

async function video() {
  const { file } = await writeRecording(folder, scene, 1);
  const count = Math.ceil(frames / partOf(scene));
  const files = join(folder, 'files');
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files);
  for (let i = 0; i < count; i++) linkSync(file, join(files, `${String(i).padStart(4, '0')}.mp4`));
  const run = await footage([files], join(folder, 'out-video'), [], PARTS);
  return rowOf('video', run, Math.abs(run.changes.length - count * scene.things.length));
}

/** Each day: the thing comes for a minute, and again shortly before the evening, to stay. */
function isShown(i, perDay) {
  return (i >= perDay / 4 && i < perDay / 4 + 30) || i >= perDay - 30;
}

async function layout() {
  const perDay = Math.floor(pictures / CAMERAS.length / DAYS);
  const view = await views();
  const root = join(folder, 'frigate');
  rmSync(root, { recursive: true, force: true });
  for (const camera of CAMERAS) {
    for (let n = 0; n < DAYS * perDay; n++) {
      const [day, i] = [Math.floor(n / perDay), n % perDay];
      const at = new Date(MORNING + day * DAY_MS + i * INTERVAL * 1000).toISOString();
      const hour = join(root, at.slice(0, 10), at.slice(11, 13), camera);
      mkdirSync(hour, { recursive: true });
      linkSync(view(isShown(i, perDay), n), join(hour, `${at.slice(14, 16)}.${at.slice(17, 19)}.jpg`));
    }
  }
  const args = ['--template', 'frigate'];
  const run = await footage([root], join(folder, 'out-frigate'), args, PARTS, []);
  const dayOf = (moment) => moment?.at.slice(0, 10);
  const spanning = run.changes.filter(({ first_seen, last_seen, reverted }) =>
    [dayOf(last_seen), dayOf(reverted)].some((day) => day !== undefined && day !== dayOf(first_seen)),
  );
  const expected = 2 * DAYS * CAMERAS.length;
  return rowOf('pictures', run, spanning.length + Math.abs(run.changes.length - expected));
}

/** @returns the name of a picture of the scene, with or without its first thing */
async function views() {
  const [thing] = scene.things;
  const raw = { raw: { width: 1920, height: 1080, channels: 3 } };
  const empty = await sharp(scene.base, raw).png().toBuffer();
  const full = await sharp(empty)
    .composite([{ input: thing.picture, left: thing.box.left, top: thing.box.top }])
    .png();
  const names = [];
  for (const [name, picture] of [
    ['empty', empty],
    ['full', await full.toBuffer()],
  ]) {
    for (let i = 0; i < VARIANTS; i++) {
      const noise = {
        create: { width: 960, height: 540, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 4 } },
      };
      const input = await sharp(noise).png().toBuffer();
      const small = await sharp(picture).resize(960, 540).png().toBuffer();
      const noisy = await sharp(small)
        .composite([{ input, blend: 'soft-light' }])
        .jpeg({ quality: 85 })
        .toBuffer();
      names.push(join(folder, `${name}-${i}.jpg`));
      writeFileSync(names.at(-1), noisy);
    }
  }
  return (shown, n) => names[(shown ? VARIANTS : 0) + (n % VARIANTS)];
}
