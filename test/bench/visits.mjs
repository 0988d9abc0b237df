/**
 * `npm run bench -- visits`: the visits of test/fixtures/replay, in the modes `previous` and `memory`, beside a
 * person's list of its people (visits.json), by lib/visit-agreement.mjs. It fails if a figure falls below its floor.
 * With `--encodings` those of the clip in four video encodings as well, and the spread over all five.
 *
 * `npm run bench -- visits --streams=30 --seed=0 --data=FOLDER`: those of made streams of busy places instead, which
 * training/worlds/surveillance/made_visits.py writes. Streams of an even number are for choosing values, the others for
 * judging them; the spread is that of the single streams. `--out=FOLDER` keeps the streams, and reads those that are
 * there. `--before=memory` measures one mode.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { ensurePython } from '../../scripts/lib/python.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { ffmpeg } from './lib/footage-video.mjs';
import { agreementOf } from './lib/visit-agreement.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
/**
 * Somewhat below the least of six encodings of the clip (found 14 to 17, IDF1 .66 to .84): one region of one frame
 * joins or splits a visit of half a minute, and another processor rounds the graphs otherwise.
 */
const FLOORS = { found: { previous: 14, memory: 13 }, idf1: { previous: 0.64, memory: 0.64 } };
const ENCODINGS = {
  mjpeg: ['-c:v', 'mjpeg', '-q:v', '5'],
  h264: ['-c:v', 'libx264', '-crf', '20'],
  hevc: ['-c:v', 'libx265', '-x265-params', 'log-level=error', '-crf', '22'],
  vp9: ['-c:v', 'libvpx-vp9', '-b:v', '0', '-crf', '24'],
};
const START = Date.UTC(2026, 0, 5, 12);
const { values: options } = readOptions({
  encodings: { type: 'boolean' },
  streams: { type: 'string' },
  seed: { type: 'string', default: '0' },
  data: { type: 'string' },
  out: { type: 'string' },
  before: { type: 'string' },
});
const MODES = Object.keys(FLOORS.found).filter((mode) => [undefined, mode].includes(options.before));
const folder = mkdtempSync(join(tmpdir(), 'visits-'));
try {
  if (options.streams === undefined) benchReplay();
  else await benchStreams(Number(options.streams));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Records of the visits and passages of a folder of frames. */
function recordsOf(frames, camera) {
  const [settings, out] = [join(folder, 'camera.json'), join(folder, 'run')];
  writeFileSync(settings, JSON.stringify(camera));
  const args = [join(ROOT, 'bin/scenedelta.js'), 'footage', frames, '-q', '-c', settings, '-d', out];
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const records = readFileSync(join(out, 'visits.ndjson'), 'utf8').split('\n').filter(Boolean).map(JSON.parse);
  rmSync(out, { recursive: true });
  return records;
}

/** The frames of the clip as a video of an encoding shows them. @returns their folder */
function encoded(name) {
  const [given, out, video] = [join(FIXTURE, 'frames'), join(folder, name), join(folder, `${name}.mkv`)];
  mkdirSync(out);
  ffmpeg(['-framerate', '1', '-pattern_type', 'glob', '-i', `${given}/*.jpg`, ...ENCODINGS[name], video]);
  ffmpeg(['-i', video, '-q:v', '2', join(out, '%03d.jpg')]);
  const times = readdirSync(given).sort();
  for (const [i, file] of readdirSync(out).sort().entries()) renameSync(join(out, file), join(out, times[i]));
  return out;
}

function benchReplay() {
  const people = JSON.parse(readFileSync(join(FIXTURE, 'visits.json'), 'utf8'));
  const clips = {
    'as it is': join(FIXTURE, 'frames'),
    ...(options.encodings ? Object.fromEntries(Object.keys(ENCODINGS).map((name) => [name, encoded(name)])) : {}),
  };
  for (const before of MODES) {
    const all = Object.entries(clips).map(([name, frames]) => {
      const records = recordsOf(frames, { before });
      const measured = measuredOf(people, records);
      console.log(`${before}, ${name}: ${figuresOf([measured])}, ${records.length - measured.visits} passages`);
      return measured;
    });
    if (options.encodings) console.log(`${before}, ${all.length} encodings: ${figuresOf(all)}`);
    const [{ found, idf1 }] = all;
    if (found < FLOORS.found[before] || idf1 < FLOORS.idf1[before]) {
      console.error(
        `${before}: expected at least ${FLOORS.found[before]} people and an IDF1 of ${FLOORS.idf1[before]}`,
      );
      process.exitCode = 1;
    }
  }
}

/** @param objects that were left or taken, each with the thing that did so */
function measuredOf(things, records, objects = []) {
  const visits = records.filter(({ kind }) => kind === 'visit');
  const { visitOf, ...agreement } = agreementOf(things, visits, START);
  const isLinked = ({ by, kind }) => visitOf.get(by)?.changes.some(({ object }) => object === kind);
  const linked = objects.filter(isLinked).length;
  const wrong = visits.reduce((sum, { changes }) => sum + changes.length, 0) - linked;
  return { ...agreement, things: things.length, visits: visits.length, objects: objects.length, linked, wrong };
}

/** The figures of recordings as one, and the spread of their own figures. */
function figuresOf(all) {
  const sum = (key) => all.reduce((total, one) => total + one[key], 0);
  const [things, found] = [sum('things'), sum('found')];
  // A stream in which nothing came has no figure of its own.
  const known = all.map(({ idf1 }) => idf1).filter((idf1) => !Number.isNaN(idf1));
  const mean = known.reduce((total, idf1) => total + idf1, 0) / known.length;
  const deviation = Math.sqrt(known.reduce((total, idf1) => total + (idf1 - mean) ** 2, 0) / (known.length - 1));
  const range = [Math.min(...known), Math.max(...known)].map((idf1) => idf1.toFixed(3)).join(' to ');
  const spread = known.length < 2 ? '' : `; each ${mean.toFixed(3)} +- ${deviation.toFixed(3)}, ${range}`;
  return (
    `${found} of ${things} found (${((100 * found) / things).toFixed(0)} %), ` +
    `${(sum('visits') / things).toFixed(2)} visits per thing, ` +
    `IDF1 ${((2 * sum('agreeing')) / sum('listed')).toFixed(3)}${spread}`
  );
}

async function benchStreams(count) {
  const out = resolve(options.out ?? folder);
  const names = Array.from({ length: count }, (_, i) => `stream-${String(i).padStart(3, '0')}`);
  if (!names.every((name) => existsSync(join(out, name, 'truth.json')))) {
    const { python, missing } = await ensurePython();
    if (missing) throw new Error(missing);
    const args = ['-m', 'training.worlds', 'visits', `--data=${dataFolder(options.data)}`, `--out=${out}`];
    execFileSync(python, [...args, `--streams=${count}`, `--seed=${options.seed}`], { cwd: ROOT, stdio: 'inherit' });
  }
  for (const before of MODES) {
    const all = names.map((name) => {
      const { things, objects } = JSON.parse(readFileSync(join(out, name, 'truth.json'), 'utf8'));
      return measuredOf(
        things,
        recordsOf(join(out, name, 'frames'), { before, alerts: { left_after_s: 10 } }),
        objects,
      );
    });
    for (const [half, is] of Object.entries({ even: 0, odd: 1 })) {
      const ofHalf = all.filter((_, i) => i % 2 === is);
      const sum = (key) => ofHalf.reduce((total, one) => total + one[key], 0);
      console.log(
        `${before}, ${half} streams: ${figuresOf(ofHalf)}; ` +
          `${sum('linked')} of ${sum('objects')} left or taken objects linked, ${sum('wrong')} links are wrong`,
      );
    }
  }
}
