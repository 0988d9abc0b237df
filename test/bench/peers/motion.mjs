/**
 * Peer of bench peers: Motion with its default settings on a file, which it plays at the rate of its frames. Its log is
 * timed from the moment at which it opened the file. Prints a JSON list: seconds at which its events began and ended.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Default of `event_gap`, seconds: an event ends so long after its last motion. */
const GAP = 60;
const folder = mkdtempSync(join(tmpdir(), 'sd-motion-'));
const configuration = join(folder, 'motion.conf');
const settings = [`netcam_url file://${process.argv[2]}`, 'width 1920', 'height 1080', 'framerate 15'];
const quiet = ['daemon off', 'picture_output off', 'movie_output off', `target_dir ${folder}`, `event_gap ${GAP}`];
writeFileSync(configuration, [...settings, ...quiet, ''].join('\n'));

const motion = spawn('motion', ['-n', '-c', configuration], { stdio: ['ignore', 'ignore', 'pipe'] });
const moments = [];
let opened;
for await (const line of createInterface({ input: motion.stderr })) {
  const now = performance.now() / 1000;
  if (/ connected$/.test(line)) opened ??= now;
  // At the end of the file it connects again; its last event goes on.
  if (/Reconnecting/.test(line)) motion.kill();
  if (motion.killed) continue;
  if (/starting event/.test(line)) moments.push(now - opened);
  if (/End of event/.test(line)) moments.push(now - opened - GAP);
}
rmSync(folder, { recursive: true });
if (!motion.killed) throw new Error('Motion ended before the recording');
console.log(JSON.stringify(moments));
