/** A file is described once, however many steps of a run ask for it, and again after it has changed. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeVideo } from '../../src/footage/video/probe.js';
import { ffmpeg } from './videos.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-probe-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('asks ffprobe once per state of a file', async () => {
  const [path, calls] = [join(folder, 'yard.mpegts'), join(folder, 'calls')];
  await ffmpeg(['-f', 'lavfi', '-i', 'testsrc=size=96x64:rate=5:duration=2', '-f', 'mpegts', path]);
  await writeFile(join(folder, 'ffprobe'), `#!/bin/sh\necho call >> '${calls}'\nexec ffprobe "$@"\n`, { mode: 0o700 });
  const probe = () => probeVideo(path, { ffmpeg: join(folder, 'ffmpeg'), pixelLimit: 1e6 });
  const counted = async () => (await readFile(calls, 'utf8')).split('\n').length - 1;
  const first = await probe();
  expect(await probe()).toEqual(first);
  expect(first).toMatchObject({ width: 96, height: 64 });
  expect(await counted()).toBe(1);
  await appendFile(path, await readFile(path));
  await probe();
  expect(await counted()).toBe(2);
});
