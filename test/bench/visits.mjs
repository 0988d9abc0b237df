/**
 * `npm run bench:visits`: the visits of test/fixtures/replay, in the modes `previous` and `memory`, beside a person's
 * list of its people (visits.json), by lib/visit-agreement.mjs. It fails if a figure falls below its floor.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { agreementOf } from './lib/visit-agreement.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
/** Somewhat below what was measured, because another processor rounds the graphs otherwise. */
const FLOORS = { found: { previous: 9, memory: 12 }, idf1: { previous: 0.45, memory: 0.55 } };
const START = Date.UTC(2026, 0, 5, 12);
const people = JSON.parse(readFileSync(join(FIXTURE, 'visits.json'), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'visits-'));
try {
  for (const before of ['previous', 'memory']) {
    const [settings, out] = [join(folder, `${before}.json`), join(folder, before)];
    writeFileSync(settings, JSON.stringify({ before }));
    const args = [join(ROOT, 'bin/scenedelta.js'), 'footage', join(FIXTURE, 'frames'), '-q', '-c', settings, '-d', out];
    execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const records = readFileSync(join(out, 'visits.ndjson'), 'utf8').split('\n').filter(Boolean).map(JSON.parse);
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
} finally {
  rmSync(folder, { recursive: true, force: true });
}
