/** `--clips` of containers whose readers do not begin at key frames. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clipWriter } from '../../src/cli/footage/clips.js';
import type { FootageChange } from '../../src/footage/records.js';
import { videosIn } from '../footage/read-videos.js';
import { FFMPEG } from '../footage/videos.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-clips-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** @returns length of the clip of a change that is seen from 20 s to 22 s, seconds */
async function clipOf(file: string): Promise<number> {
  const { item, pattern } = videosIn(folder);
  await pattern(file, '96x64', 40, 4, ['-g', '48', '-keyint_min', '48', '-sc_threshold', '0', '-bf', '2']);
  const config = { ffmpeg: FFMPEG, videoPixelLimit: 1e7 };
  const write = await clipWriter(folder, [{ items: [item(file)] }], config, new AbortController().signal);
  const seen = (seconds: number) => ({ file, seconds, at: null });
  const clip = await write({ id: file, first_seen: seen(20), last_seen: seen(22) } as FootageChange);
  if (clip === null) return 0;
  const shown = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', join(folder, clip)];
  return Number((await promisify(execFile)(FFMPEG.replace(/ffmpeg$/, 'ffprobe'), shown)).stdout);
}

it.each(['ts', 'mpg', 'flv', 'h264'])('a clip of %s begins at the key frame before the change', async (type) => {
  // Key frames at 0, 12, 24 and 36 s. Others than a transport stream may lead to the one before.
  const length = await clipOf(`keys.${type}`);
  expect(length).toBeGreaterThan(12.7);
  expect(length).toBeLessThan(type === 'ts' ? 15 : 27);
});
