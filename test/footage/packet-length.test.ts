/** Lengths of videos, stated or measured, by which the files after them begin at their end. */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { planRecording } from '../../src/footage/inputs/plan.js';
import { probeVideo } from '../../src/footage/video/probe.js';
import { FFMPEG, ffmpeg } from './videos.js';

const START = Date.UTC(2026, 5, 1, 12);
const SOURCE = ['-f', 'lavfi', '-i', 'testsrc=size=96x64:rate=10:duration=7'];
/** With B-frames: the last packet of the file is not the last picture. */
const CODING = ['-c:v', 'libx264', '-bf', '2', '-g', '20', '-pix_fmt', 'yuv420p'];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-length-'));
  // A pipe cannot be wound back to the header, where the length would be written.
  const piped = execFile(FFMPEG, ['-v', 'error', ...SOURCE, ...CODING, '-f', 'matroska', '-'], { encoding: 'buffer' });
  await pipeline(piped.stdout as NodeJS.ReadableStream, createWriteStream(join(folder, 'piped.mkv')));
  await ffmpeg([...SOURCE, ...CODING, '-f', 'h264', join(folder, 'raw.h264')]);
  await ffmpeg([...SOURCE, ...CODING, join(folder, 'whole.mp4')]);
});
afterAll(() => rm(folder, { recursive: true }));

const plan = (names: readonly string[], program = FFMPEG) =>
  planRecording(
    names.map((name) => {
      const path = join(folder, name);
      return { kind: 'video' as const, file: name, location: { from: 'file' as const, path }, modifiedAt: null };
    }),
    {
      ...{ template: null, camera: 'yard', start: START, timeZone: 'UTC', imageInterval: 1, ffmpeg: program },
      ...{ videoPixelLimit: 1e6, now: START, signal: new AbortController().signal },
    },
  );

it.each(['piped.mkv', 'raw.h264', 'whole.mp4'])('%s has the length of its pictures', async (name) => {
  const { duration } = await probeVideo(join(folder, name), { ffmpeg: FFMPEG, pixelLimit: 1e6 });
  expect(duration).toBeCloseTo(7, 2);
});

it.each(['mkv', 'mp4'])('a segment (%s) that counts on from the one before has its own length', async (type) => {
  const segments = ['-c', 'copy', '-f', 'segment', '-segment_time', '2', join(folder, `part%d.${type}`)];
  await ffmpeg(['-i', join(folder, 'whole.mp4'), ...segments]);
  const info = await probeVideo(join(folder, `part1.${type}`), { ffmpeg: FFMPEG, pixelLimit: 1e6 });
  expect([Math.round(info.startTime), Math.round(info.duration ?? 0), Math.round(info.videoDuration ?? 0)]).toEqual([
    2, 2, 2,
  ]);
  const { sequences } = await plan([`part1.${type}`, `part2.${type}`]);
  expect(sequences[0]?.items.map(({ at }) => Math.round((at - START) / 1000))).toEqual([0, 2]);
});

it.each(['piped.mkv', 'raw.h264'])('a video after %s begins at its end', async (name) => {
  const { sequences, failures } = await plan([name, 'whole.mp4']);
  const items = sequences.flatMap((sequence) => sequence.items.map(({ file, at }) => [file, (at - START) / 1000]));
  expect(items).toEqual([
    [name, 0],
    ['whole.mp4', 7],
  ]);
  expect(failures).toEqual([]);
});

it('a video after one whose packets have no times is refused by name, and not taken for seen', async () => {
  const noTimes = 'case "$*" in *packet=pts_time,dts_time,duration_time*) exit 0 ;; esac';
  const silent = ['#!/bin/sh', noTimes, 'exec ffprobe "$@"', ''].join('\n');
  await writeFile(join(folder, 'ffprobe'), silent, { mode: 0o700 });
  const { sequences, failures } = await plan(['piped.mkv', 'whole.mp4'], join(folder, 'ffmpeg'));
  expect(sequences.flatMap(({ items }) => items.map(({ file }) => file))).toEqual(['piped.mkv']);
  expect(failures).toMatchObject([{ file: 'whole.mp4', reason: expect.stringContaining('length is not known') }]);
});
