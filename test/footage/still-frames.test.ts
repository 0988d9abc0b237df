/** Frames of a damaged recording, as a search for the moment of a change reads them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localFiles } from '../../src/footage/inputs/local-files.js';
import { StillFrames } from '../../src/footage/inputs/still-frames.js';
import { FFMPEG, THING, writeVideo } from './videos.js';

it('a damaged frame is never shown: the one before stands for it, and the damage is a failure', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sd-still-'));
  const path = join(folder, 'yard.mp4');
  const parts = Array.from({ length: 10 }, (_, i) => ({ frames: 1, blocks: [{ ...THING, x: 4 + 6 * i }] }));
  await writeVideo(path, parts, {
    rate: 1,
    coding: ['-c:v', 'libx264', '-crf', '1', '-g', '1', '-pix_fmt', 'yuv420p'],
  });
  const frames = (frame: StillFrames) =>
    Promise.all(Array.from({ length: 10 }, async (_, i) => Buffer.from(await frame.frame(i)).toString('base64')));
  const read = () =>
    StillFrames.of([{ kind: 'video', file: 'yard.mp4', at: 0, location: { from: 'file', path } }], {
      ...{
        ffmpeg: FFMPEG,
        videoPixelLimit: 1e7,
        frameLimit: 1e7,
        every: 1,
        materialize: localFiles(folder, undefined),
      },
      ...{ range: { from: 0, until: 1e6 }, signal: new AbortController().signal },
    });
  const good = await frames(await read());
  const bytes = await readFile(path);
  const begin = bytes.indexOf('mdat') + Math.floor((bytes.length - bytes.indexOf('mdat')) * 0.45);
  await writeFile(path, bytes.fill(0x5a, begin, begin + 200));
  const still = await read();
  const found = await frames(still);
  expect(new Set(good).size).toBe(10);
  expect(found.filter((frame, i) => frame !== good[i])).not.toEqual([]);
  expect(found.every((frame) => good.includes(frame))).toBe(true);
  expect(still.failures[0]).toMatchObject({ file: 'yard.mp4', reason: expect.stringMatching(/^is damaged at \d s/) });
  await rm(folder, { recursive: true });
});
