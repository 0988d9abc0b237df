/** The wanted part of recordings, and what their folders and globs name. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { boundSequences } from '../../src/cli/footage/range.js';
import { listFiles } from '../../src/footage/inputs/list-files.js';
import { planRecording } from '../../src/footage/inputs/plan.js';

const START = Date.UTC(2026, 5, 1, 12);
const { signal } = new AbortController();

/** @param folders pictures of each, `count` of them a second apart, from the hour on */
const planned = (folders: Readonly<Record<string, number>>, count = 3) =>
  planRecording(
    Object.entries(folders).flatMap(([folder, hour]) =>
      Array.from({ length: count }, (_, i) => {
        const file = `${folder}/2026-06-01_${hour}-00-0${i}.jpg`;
        return { kind: 'image' as const, file, location: { from: 'file' as const, path: file }, modifiedAt: null };
      }),
    ),
    {
      ...{ template: null, camera: null, start: null, timeZone: 'UTC', imageInterval: 1, ffmpeg: 'ffmpeg' },
      ...{ videoPixelLimit: 1e6, now: START + 86_400_000, signal },
    },
  );

async function ranges(folders: Readonly<Record<string, number>>, options: object) {
  const plan = await planned(folders);
  const context = { options, settings: checkSettings({}), timeZone: 'UTC', every: { mode: 'all' }, signal };
  const config = { ffmpeg: 'ffmpeg', videoPixelLimit: 1e6 };
  const bounded = await boundSequences(plan, { ...context, config } as never);
  return bounded.map(({ range }) => [range.from - START, range.until - START].map((ms) => ms / 1000));
}

describe('the wanted part', () => {
  it('leaves a camera without frames that begins after the end, and refuses an end before the begin', async () => {
    const two = { a: 12, b: 14 };
    const until = { endTime: '2026-06-01T13:00:00' };
    expect(await ranges(two, until)).toEqual([
      [0, 3600],
      [7200, 7200],
    ]);
    await expect(ranges(two, { ...until, startTime: '2026-06-01T13:30:00' })).rejects.toThrow(
      '-st 2026-06-01T13:30:00 -et 2026-06-01T13:00:00: expected an end after the begin',
    );
    await expect(ranges(two, { duration: '0' })).rejects.toThrow(/^-dt 0: expected an end after the begin/);
  });
  it('may have as many frames as there are, and ends before the frame that is named', async () => {
    const [[, all] = []] = await ranges({ a: 12 }, { duration: '3' });
    expect(all).toBeGreaterThan(2);
    await expect(ranges({ a: 12 }, { duration: '4' })).rejects.toThrow('frame 3: expected at most 2');
    expect(await ranges({ a: 12 }, { startTime: '1', endTime: '2' })).toEqual([[1, 2]]);
  });
});

it('keeps cameras apart whose names have no Latin letters, and drops accents', async () => {
  const { sequences } = await planned({ 前門: 12, 後門: 12, Tür: 12, 'front door': 12 });
  const ids = sequences.map(({ camera }) => camera);
  expect(ids).toEqual([
    'Tur',
    expect.stringMatching(/^camera-[0-9a-f]{8}$/),
    expect.stringMatching(/^camera-[0-9a-f]{8}$/),
    'front-door',
  ]);
  expect(new Set(ids).size).toBe(4);
});

it('takes nothing of the folder of its outputs, whatever names the inputs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sd-list-'));
  const outputs = join(folder, 'out');
  try {
    await mkdir(join(outputs, 'pictures'), { recursive: true });
    for (const name of ['1.jpg', 'out/pictures/1.jpg', 'out/2.jpg']) await writeFile(join(folder, name), '');
    for (const input of [folder, join(folder, '**/*.jpg'), join(folder, '%d.jpg')]) {
      const files: string[] = [];
      for await (const { file } of listFiles(input, { outputs, s3: undefined })) files.push(file);
      expect(files.map((file) => resolve(file))).toEqual([join(folder, '1.jpg')]);
    }
    await expect(listFiles(join(outputs, '%d.jpg'), { outputs, s3: undefined }).next()).rejects.toThrow(
      'matches no file',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
