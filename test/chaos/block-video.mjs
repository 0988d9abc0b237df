/** Small recordings in which blocks come and go, of the colour that the bundle of test/fixtures calls a green thing. */
import { execFileSync } from 'node:child_process';

const RATE = 4;
/** Left edges of the places, pixels of 96 x 64. */
const PLACES = [8, 36, 64];

/**
 * Writes an H.264 video. Every block is there for 10 to 40 s, and away for as long.
 * @param {{ minutes: number, next: () => number }} options next: uniform in [0, 1)
 */
export function writeBlocks(file, { minutes, next }) {
  const boxes = PLACES.flatMap((x) => {
    const shown = [];
    for (let at = 10 + 30 * next(); at < minutes * 60; at += 10 + 30 * next()) {
      const until = at + 10 + 30 * next();
      shown.push(`between(t,${at.toFixed(2)},${until.toFixed(2)})`);
      at = until;
    }
    const enable = shown.join('+');
    return [`drawbox=x=${x}:y=24:w=16:h=16:color=0x3cfa50:t=fill:enable='${enable}'`];
  });
  const scene = [`color=c=0x323232:s=96x64:r=${RATE}:d=${minutes * 60}`, ...boxes].join(',');
  const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '12', '-g', String(RATE), '-pix_fmt', 'yuv420p'];
  execFileSync('ffmpeg', ['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', scene, ...coding, file]);
}
