/**
 * `npm run test:footage-damage [-- --short]`: damages every tenth byte range of recordings in turn. Six things come and
 * go in each; the changes found and the spans reported as damaged must cover all of it.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CODINGS, damagedFrames, lookAt, makeVideo } from './lib.mjs';

/** The short form: one recording per codec family and kind of container. */
const SHORT = new Set(['h264.mp4', 'h264.ts', 'mpeg4.avi']);
const isShort = process.argv.includes('--short');
const folder = await mkdtemp(join(tmpdir(), 'sd-damage-'));
const problems = [];
let runs = 0;
try {
  const codings = Object.entries(CODINGS).filter(([name]) => !isShort || SHORT.has(name));
  for (const [name, coding] of codings) {
    const path = join(folder, name);
    await makeVideo(path, coding);
    const whole = await readFile(path);
    const clean = await lookAt(path);
    if (clean.failures.length > 0) problems.push(`${name}, whole: ${clean.failures[0]}`);
    for (const every of ['keyframes', 'seconds']) {
      for (let tenth = isShort ? 4 : 0; tenth < (isShort ? 6 : 10); tenth++) {
        runs++;
        await writeFile(path, damagedFrames(whole, tenth));
        const seen = await lookAt(path, every);
        const lost = clean.pictures.filter((picture) => !seen.covers(picture));
        if (lost.length > 0 && seen.failures.length === 0) {
          problems.push(`${name}, ${every}, tenth ${tenth}: ${lost.length} pictures lost or altered without a failure`);
        }
      }
      await writeFile(path, whole.subarray(0, Math.floor((whole.length * 2) / 3)));
      const cut = await lookAt(path, every);
      runs++;
      if (cut.failures.length === 0 && clean.pictures.some((picture) => !cut.covers(picture))) {
        problems.push(`${name}, ${every}, cut at two thirds: no failure`);
      }
    }
  }
} finally {
  await rm(folder, { recursive: true });
}
for (const problem of problems) console.error(problem);
console.log(`${runs} damaged recordings, ${problems.length} silent losses`);
process.exitCode = problems.length > 0 ? 1 : 0;
