/** Time-lapse recordings, pauses and files without an index: the times that a run and a search state are of frames. */
import { mkdtempSync } from 'node:fs';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { endOf, usualGap } from '../../src/footage/inputs/bounds.js';
import { probeVideo } from '../../src/footage/video/probe.js';
import { START, videosIn } from './read-videos.js';
import { FFMPEG, ffmpeg } from './videos.js';

jest.setTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), 'sd-slow-'));
const { item, read, momentsOf, pattern } = videosIn(folder);
afterAll(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();
const everyTime = (count: number, seconds: number) => Array.from({ length: count }, (_, i) => i * seconds);

describe.each([10, 60])('a recording of one frame per %d s', (interval) => {
  it.each(['mp4', 'mkv', 'avi', 'ts'])('in %s is whole, and searched at the times of its frames', async (type) => {
    const file = `lapse-${interval}.${type}`;
    await pattern(file, '96x64', 6 * interval, 1 / interval, ['-preset', 'medium', '-bf', type === 'avi' ? '0' : '2']);
    const { times, failures } = await read([item(file)]);
    expect([times, failures]).toEqual([everyTime(6, interval), []]);
    expect(await momentsOf(file)).toEqual(everyTime(6, interval));
    const { at } = await endOf({ items: [item(file)] }, { ffmpeg: FFMPEG, videoPixelLimit: 1e7 }, signal);
    expect((at - START) / 1000).toBeGreaterThan(5 * interval);
  });
});

it('a pause between its frames is no gap', async () => {
  await pattern('lapse-900.mp4', '96x64', 3600, 1 / 900);
  const items = [item('lapse-900.mp4')];
  const { frameSeconds } = await endOf({ items }, { ffmpeg: FFMPEG, videoPixelLimit: 1e7 }, signal);
  expect(frameSeconds).toBe(900);
  expect(usualGap({ items }, checkSettings({}), { mode: 'auto' }, frameSeconds)).toBe(3_600_000);
});

it('a search states the times of frames around a pause, and finds the last one however long it lasts', async () => {
  // Frames of the seconds 0 to 2 and 12 to 13; the sound goes on until 30.
  const picture = ['-f', 'lavfi', '-i', "testsrc2=s=96x64:r=4:d=14,select='not(between(t,2.9,11.9))'"];
  const sound = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:d=30'];
  const coding = ['-fps_mode', 'vfr', '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
  await ffmpeg([...picture, ...sound, ...coding, join(folder, 'pause.mp4')]);
  const info = await probeVideo(join(folder, 'pause.mp4'), { ffmpeg: FFMPEG, pixelLimit: 1e7 });
  expect([Math.round(info.duration ?? 0), Math.round(info.videoDuration ?? 0)]).toEqual([30, 14]);
  const times = await momentsOf('pause.mp4');
  expect(times).toEqual([0, 1, 2, ...Array(10).fill(12), 13]);
  const { failures } = await read([item('pause.mp4')]);
  expect(failures).toEqual([]);
  // This container states one length for picture and sound.
  await ffmpeg(['-i', join(folder, 'pause.mp4'), '-c', 'copy', join(folder, 'pause.flv')]);
  expect((await momentsOf('pause.flv')).slice(-16)).toEqual(Array(16).fill(13.878));
});

it('a long pause in a fast recording is no damage', async () => {
  const pause = "setpts='PTS+if(gte(T,5),300/TB,0)'";
  const coding = ['-fps_mode', 'passthrough', '-enc_time_base', '1:1000', '-video_track_timescale', '1000', '-bf', '0'];
  await pattern('hole.mp4', '96x64', 10, 25, ['-vf', pause, ...coding]);
  // The copy states the average rate, of which ffmpeg would count the times in the pipe.
  await ffmpeg(['-i', join(folder, 'hole.mp4'), '-c', 'copy', join(folder, 'hole.mkv')]);
  const { times, failures } = await read([item('hole.mkv')]);
  expect([times, failures]).toEqual([[0, 1, 2, 3, 4, 305, 306, 307, 308, 309], []]);
});

describe.each(['ts', 'mpg', 'flv', 'h264', 'mkv'])('a part of a file (%s) with few key frames', (type) => {
  const file = `few.${type}`;
  beforeAll(async () => {
    const coding = type === 'mpg' ? ['-c:v', 'mpeg2video', '-keyint_min', '125'] : ['-bf', '2'];
    await pattern(file, '96x64', 12, 25, [...coding, '-g', '125', '-sc_threshold', '0']);
  });

  it('begins at its first frame, and not at the next key frame', async () => {
    const { times, account } = await read([item(file)], undefined, { from: START + 7000, until: START + 11_000 });
    expect([times, account.in]).toEqual([[7, 8, 9, 10], 4]);
  });

  it('is searched at the times of its frames', async () => {
    expect((await momentsOf(file)).slice(0, 12)).toEqual(everyTime(12, 1));
  });
});

it('damage before a part of a file is not that of its first frames', async () => {
  await pattern('dented.ts', '320x240', 12, 25, ['-g', '25', '-sc_threshold', '0', '-bf', '0', '-crf', '10']);
  const path = join(folder, 'dented.ts');
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length * (7.4 / 12));
  bytes.fill(0, middle, middle + 4000);
  await writeFile(path, bytes);
  const from = (seconds: number) =>
    read([item('dented.ts')], undefined, { from: START + seconds * 1000, until: START + 12_000 });
  expect((await from(6)).failures).toHaveLength(1);
  expect(await from(9)).toMatchObject({ times: [9, 10, 11], failures: [] });
});

it('key frames more than a minute apart end too early if the file was cut', async () => {
  const coding = [
    '-g',
    '70',
    '-keyint_min',
    '70',
    '-sc_threshold',
    '0',
    '-bf',
    '0',
    '-crf',
    '10',
    '-movflags',
    '+faststart',
  ];
  await pattern('rare.mp4', '160x120', 700, 1, coding);
  const every = { mode: 'keyframes' } as const;
  expect((await read([item('rare.mp4')], every)).failures).toEqual([]);
  const path = join(folder, 'rare.mp4');
  await truncate(path, Math.floor((await readFile(path)).length * 0.4));
  const { failures } = await read([item('rare.mp4')], every);
  expect(failures.at(-1)).toContain('is truncated or damaged: ends at 210.00 s of 700.00 s');
});
