/**
 * `npm run bench:visits`: the visits of test/fixtures/replay, in the modes `previous` and `memory`, beside a person's
 * list of its people (visits.json). A visit and a person agree in a frame if the centre of the body lies in the box of
 * the visit, or next to it. Each person gets at most one visit, so that most frames agree. Found: they agree in at
 * least half of the person's frames; a path has at most 32 places, which counts against long visits.
 * IDF1: agreeing frames among those of both (Ristani et al. 2016).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import munkres from 'munkres';
import { ROOT } from '../../scripts/lib/shell.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
const START = Date.UTC(2026, 0, 5, 12);
const people = JSON.parse(readFileSync(join(FIXTURE, 'visits.json'), 'utf8'));

/** Half of a box and a little more: the list is exact to about 0.03 of the frame. */
const agrees = ([, x, y], { x: left, y: top, width, height }) =>
  Math.abs(x - left - width / 2) <= Math.max(0.045, 0.6 * width) &&
  Math.abs(y - top - height / 2) <= Math.max(0.08, 0.6 * height);

function agreement(person, visit) {
  const places = new Map(person.path.map((place) => [place[0], place]));
  return visit.path.filter(({ at, box }) => {
    const place = places.get((Date.parse(at) - START) / 1000);
    return place !== undefined && agrees(place, box);
  }).length;
}

const folder = mkdtempSync(join(tmpdir(), 'visits-'));
try {
  for (const before of ['previous', 'memory']) {
    const [settings, out] = [join(folder, `${before}.json`), join(folder, before)];
    writeFileSync(settings, JSON.stringify({ before }));
    const args = [join(ROOT, 'bin/scenedelta.js'), 'footage', join(FIXTURE, 'frames'), '-q', '-c', settings, '-d', out];
    execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const records = readFileSync(join(out, 'visits.ndjson'), 'utf8').split('\n').filter(Boolean).map(JSON.parse);
    const visits = records.filter(({ kind }) => kind === 'visit');
    const frames = people.map((person) => visits.map((visit) => agreement(person, visit)));
    const pairs = munkres(frames.map((row) => row.map((count) => -count)));
    const agreeing = pairs.reduce((sum, [i, j]) => sum + frames[i][j], 0);
    const found = pairs.filter(([i, j]) => frames[i][j] >= people[i].path.length / 2).length;
    const of = (all) => all.reduce((sum, { path }) => sum + path.length, 0);
    const idf1 = (2 * agreeing) / (of(people) + of(visits));
    console.log(
      `${before}: ${found} of ${people.length} people found, ${visits.length} visits ` +
        `(${(visits.length / people.length).toFixed(2)} per person), ${records.length - visits.length} passages, ` +
        `IDF1 ${idf1.toFixed(3)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
