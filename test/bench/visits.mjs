/**
 * `npm run bench -- visits`: the visits of test/fixtures/replay, in the modes `previous` and `memory`, beside a
 * person's list of its people (visits.json), by lib/visit-agreement.mjs. It fails if a figure falls below its floor.
 *
 * `npm run bench -- visits --streams=30 --seed=0 --data=FOLDER`: those of made streams of busy places instead, which
 * training/worlds/surveillance/made_visits.py writes. Streams of an even number are for choosing values, the others for
 * judging them. `--out=FOLDER` keeps the streams, and reads those that are there. `--before=memory` measures one mode.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { ensurePython } from '../../scripts/lib/python.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { agreementOf } from './lib/visit-agreement.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
/**
 * Somewhat below the least of six encodings of the clip (found 14 to 17, IDF1 .66 to .84): one region of one frame
 * joins or splits a visit of half a minute, and another processor rounds the graphs otherwise.
 */
const FLOORS = { found: { previous: 14, memory: 13 }, idf1: { previous: 0.64, memory: 0.64 } };
const START = Date.UTC(2026, 0, 5, 12);
const { values: options } = readOptions({
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

function benchReplay() {
  const people = JSON.parse(readFileSync(join(FIXTURE, 'visits.json'), 'utf8'));
  for (const before of MODES) {
    const records = recordsOf(join(FIXTURE, 'frames'), { before });
    const visits = records.filter(({ kind }) => kind === 'visit');
    const { found, idf1 } = agreementOf(people, visits, START);
    console.log(
      `${before}: ${found} of ${people.length} people found, ${visits.length} visits ` +
        `(${(visits.length / people.length).toFixed(2)} per person), ${records.length - visits.length} passages, ` +
        `IDF1 ${idf1.toFixed(3)}`,
    );
    if (found < FLOORS.found[before] || idf1 < FLOORS.idf1[before]) {
      console.error(
        `${before}: expected at least ${FLOORS.found[before]} people and an IDF1 of ${FLOORS.idf1[before]}`,
      );
      process.exitCode = 1;
    }
  }
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
    const sums = [{}, {}];
    names.forEach((name, i) => {
      const { things, objects } = JSON.parse(readFileSync(join(out, name, 'truth.json'), 'utf8'));
      const records = recordsOf(join(out, name, 'frames'), { before, alerts: { left_after_s: 10 } });
      const visits = records.filter(({ kind }) => kind === 'visit');
      const { found, agreeing, listed, visitOf } = agreementOf(things, visits, START);
      const isLinked = ({ by, kind }) => visitOf.get(by)?.changes.some(({ object }) => object === kind);
      const measured = { things: things.length, found, visits: visits.length, agreeing, listed };
      const linked = objects.filter(isLinked).length;
      const wrong = visits.reduce((sum, { changes }) => sum + changes.length, 0) - linked;
      const links = { objects: objects.length, linked, wrong };
      const sum = sums[i % 2];
      for (const [key, value] of Object.entries({ ...measured, ...links })) sum[key] = (sum[key] ?? 0) + value;
    });
    for (const [i, { things, found, visits, agreeing, listed, objects, linked, wrong }] of sums.entries()) {
      console.log(
        `${before}, ${i === 0 ? 'even' : 'odd'} streams: ${found} of ${things} things found ` +
          `(${((100 * found) / things).toFixed(0)} %), ${(visits / things).toFixed(2)} visits per thing, ` +
          `IDF1 ${((2 * agreeing) / listed).toFixed(3)}, ${linked} of ${objects} left or taken objects linked, ` +
          `${wrong} links are wrong`,
      );
    }
  }
}
