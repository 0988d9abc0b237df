/**
 * `npm run test:footage-damage [-- --short]`: damages every tenth byte range of recordings in turn. A picture that is
 * lost, or replaced by the one before it, must lie in a recording with a failure. Pictures that the decoder alters
 * without a message of its own (H.265 has no checksum) are counted: the model sees them as they are.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CODINGS, damagedFrames, lookAt, makeVideo } from './lib.mjs';

const isShort = process.argv.includes('--short');
const folder = await mkdtemp(join(tmpdir(), 'sd-damage-'));
const problems = [];
let [runs, altered] = [0, 0];
try {
  for (const [name, coding] of Object.entries(CODINGS)) {
    const path = join(folder, name);
    await makeVideo(path, coding);
    const intact = await readFile(path);
    const clean = await lookAt(path);
    if (clean.failures.length > 0) problems.push(`${name}, whole: ${clean.failures[0]}`);
    for (const every of ['keyframes', 'seconds']) {
      for (let tenth = isShort ? 4 : 0; tenth < (isShort ? 6 : 10); tenth++) {
        runs++;
        await writeFile(path, damagedFrames(intact, tenth));
        const seen = await lookAt(path, every);
        const lost = clean.pictures.filter((picture) => !seen.covers(picture));
        if (seen.failures.length > 0) continue;
        const silent = lost.filter((picture) => seen.repeats(picture));
        altered += lost.length - silent.length;
        if (silent.length > 0) {
          problems.push(`${name}, ${every}, tenth ${tenth}: ${silent.length} pictures lost without a failure`);
        }
      }
      // A transport stream has no header that states its length.
      if (name.endsWith('.ts')) continue;
      await writeFile(path, intact.subarray(0, Math.floor((intact.length * 2) / 3)));
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
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${runs} damaged recordings, ${problems.length} silent losses, ${altered} pictures altered unnoticed\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
