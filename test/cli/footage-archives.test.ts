/** `scenedelta footage` on archives as cameras leave them: overlapping clips, lost clocks and absurd headers. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { type ListedFile, listFiles } from '../../src/footage/inputs/list-files.js';
import { planRecording } from '../../src/footage/inputs/plan.js';
import type { FootageSummary } from '../../src/footage/records.js';
import sharp from '../../src/frames/sharp.js';
import type { ReportData } from '../../src/schemas/documents.js';
import { FFMPEG, THING, writeVideo } from '../footage/videos.js';
import { scene } from '../frames/pictures.js';
import { dataOf } from '../helpers/documents.js';
import { copyOfTiny } from '../model/tiny-bundle.js';

jest.setTimeout(240_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let folder: string;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(() => {})).modelsDir;
  folder = await mkdtemp(join(tmpdir(), 'sd-archives-'));
});
afterAll(() => Promise.all([folder, models].map((made) => rm(made, { recursive: true }))));

/** @returns the last line, the warnings, and the first frame of each change */
async function footage(input: string, ...options: string[]) {
  const out = join(folder, `out-${input.replaceAll('/', '-')}`);
  const env = { ...process.env, MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', FFMPEG };
  const args = [main, 'footage', input, '-d', out, '--tz', 'UTC', ...options];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile(process.execPath, args, { env, cwd: folder }, (error, stdout, stderr) =>
      error === null ? resolve({ stdout, stderr }) : reject(new Error(`${error.code}: ${stderr}`)),
    );
  });
  const { summary, changes } = JSON.parse(await readFile(join(out, 'changes.json'), 'utf8')) as {
    summary: FootageSummary;
    changes: { first_seen: { at: string } }[];
  };
  const report = await readFile(join(out, 'report.html'), 'utf8');
  for (const warning of summary.warnings ?? []) expect(stderr).toContain(warning);
  const { lists } = dataOf<ReportData>(report);
  expect(lists.find(({ title }) => title === 'Warnings')?.lines ?? []).toEqual(summary.warnings ?? []);
  return {
    account: stdout.trim().split('\n').at(-1),
    warnings: summary.warnings ?? [],
    frames: summary.cameras.map(({ frames }) => frames),
    changes: changes.map(({ first_seen }) => first_seen.at),
  };
}

/** @returns the plan of a folder of pictures, as `footage` makes it */
async function planned(input: string, timeZone = 'UTC') {
  const listed: ListedFile[] = [];
  for await (const file of listFiles(join(folder, input), { outputs: null, s3: undefined })) listed.push(file);
  return planRecording(listed, {
    ...{ template: null, camera: null, start: null, timeZone, imageInterval: 1, ffmpeg: FFMPEG },
    ...{ videoPixelLimit: 1_000_000, now: Date.now(), signal: new AbortController().signal },
  });
}

describe('clips that overlap', () => {
  it('skips the frames seen twice, and finds a change that only the second clip shows', async () => {
    await mkdir(join(folder, 'gate'));
    await writeVideo(join(folder, 'gate/gate-20201222-134135.mp4'), [{ frames: 76, blocks: [] }]);
    await writeVideo(join(folder, 'gate/gate-20201222-134142.mp4'), [
      { frames: 56, blocks: [] },
      { frames: 28, blocks: [THING] },
    ]);
    const { account, warnings, changes } = await footage('gate');
    expect(changes).toEqual(['2020-12-22T13:41:56.000Z']);
    expect(account).toBe('40 frames in = 28 looked at + 12 skipped (12 seen twice)');
    expect(warnings).toEqual([expect.stringContaining('skipped 12 frames of a time that an earlier file shows')]);
  });
});

describe('--scan-only', () => {
  const scan = (input: string, ...options: string[]) =>
    new Promise<string[]>((resolve) => {
      const env = { ...process.env, MODELS_DIR: models, DEFAULT_MODEL: 'bundle-tiny', DEVICE: 'cpu', FFMPEG };
      execFile(process.execPath, [main, 'footage', input, '--scan-only', ...options], { env, cwd: folder }, (_, out) =>
        resolve(out.trim().split('\n')),
      );
    });
  const picture = async (...names: string[]) => {
    const bytes = await scene(96, 64).png().toBuffer();
    await Promise.all(
      names.map(async (name) => {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), bytes);
      }),
    );
  };

  it('prints gaps, overlaps and the files of a camera, and accounts for each file', async () => {
    await mkdir(join(folder, 'scan'));
    for (const time of ['134135', '134142', '140000']) {
      await writeVideo(join(folder, `scan/gate-20201222-${time}.mp4`), [{ frames: 76, blocks: [] }]);
    }
    await writeFile(join(folder, 'scan/broken.mp4'), 'no video');
    expect(await scan('scan', '--tz', 'UTC', '--gap', '60s')).toEqual([
      'scan',
      '  files     3 videos, 0 pictures',
      '  first     2020-12-22T13:41:35.000Z scan/gate-20201222-134135.mp4',
      '  last      2020-12-22T14:00:00.000Z scan/gate-20201222-140000.mp4',
      '  times     3 by their names',
      '  gaps      1',
      '            1079.0 s from 2020-12-22T13:42:01.000Z to 2020-12-22T14:00:00.000Z',
      '  overlaps  1',
      '            12.0 s from 2020-12-22T13:41:42.000Z: scan/gate-20201222-134142.mp4',
      '  doubts    none',
      expect.stringContaining('failed: scan/broken.mp4'),
      '4 files in = 3 of 1 camera + 1 left out: the reasons are above',
    ]);
  });

  it('accounts for files and folders whose names are not UTF-8, and reads the others', async () => {
    await picture('latin/20260101_120000.png');
    const latin = (text: string) => Buffer.from(join(folder, 'latin', text), 'latin1');
    await mkdir(latin('caf\xe9'));
    for (const name of ['20260101_1201\xe9.png', '20260101_1201\xe8.png', 'caf\xe9/20260101_120200.png']) {
      await writeFile(latin(name), '');
    }
    const rows = await scan('latin', '--tz', 'UTC');
    const failed = rows.filter((row) => row.includes('the name is not UTF-8: expected to rename it'));
    expect(failed.map((row) => row.split(':')[1]?.trim().split(' ')[0])).toEqual([
      ...['latin/20260101_1201\ufffd.png', 'latin/20260101_1201\ufffd.png', 'latin/caf\ufffd'],
    ]);
    expect(rows.at(-1)).toBe('4 files in = 1 of 1 camera + 3 left out: the reasons are above');
  });

  it.each([
    ['20261025_023000', 'Europe/Berlin', 'a time that Europe/Berlin has twice, and the first one is assumed'],
    ['20260329_023000', 'Europe/Berlin', 'a time that Europe/Berlin skips in spring'],
    ['20261101_013000', 'America/New_York', 'a time that America/New_York has twice'],
    ['20260405_014500', 'Australia/Lord_Howe', 'a time that Australia/Lord_Howe has twice'],
    ['20260329_023000', 'UTC', null],
    ['20261025_033000', 'Europe/Berlin', null],
  ])('names the doubt about %s in %s', async (name, zone, doubt) => {
    const camera = `clock-${name}-${zone.replaceAll('/', '-')}`;
    await picture(`${camera}/${name}.png`);
    const { sequences, failures } = await planned(camera, zone);
    expect(failures).toEqual([]);
    expect(sequences.map(({ items, doubts }) => [items.length, doubts])).toEqual([
      [1, doubt === null ? [] : [expect.stringContaining(doubt)]],
    ]);
  });

  it('prints such a doubt', async () => {
    await picture('autumn/20261025_023000.png');
    const rows = await scan('autumn', '--tz', 'Europe/Berlin');
    expect(rows.filter((row) => row.includes('a time that Europe/Berlin has twice'))).toHaveLength(1);
    expect(rows.at(-1)).toBe('1 file in = 1 of 1 camera + 0 left out');
  });
});

/** Thirteen pictures, one per 10 s; the thing comes with the sixth, with which the clock is lost for three. */
async function writePictures(camera: string, nameOf: (i: number, at: Date) => string, exifOf?: (i: number) => string) {
  await mkdir(join(folder, camera), { recursive: true });
  for (let i = 0; i < 13; i++) {
    const at = new Date(Date.UTC(2026, 5, 1, 12) + i * 10_000);
    const path = join(folder, camera, nameOf(i, at));
    const picture = sharp(
      await scene(96, 64, i < 5 ? [] : [THING])
        .png()
        .toBuffer(),
    ).jpeg({ quality: 95 });
    const exif = exifOf === undefined ? {} : { IFD2: { DateTimeOriginal: exifOf(i) } };
    await writeFile(path, await picture.withExif(exif).toBuffer());
    await utimes(path, at, at);
  }
}
const isLost = (i: number) => i >= 5 && i < 8;
const digits = (at: Date) => at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
const exifText = (i: number) =>
  new Date(Date.UTC(2026, 5, 1, 12) + i * 10_000).toISOString().slice(0, 19).replaceAll('-', ':').replace('T', ' ');

describe('a clock that was lost for some pictures', () => {
  const byName = (lost: string) => (i: number, at: Date) => `${isLost(i) ? `${lost}${i}` : digits(at)}.jpg`;
  const times = Array.from({ length: 13 }, (_, i) => Date.UTC(2026, 5, 1, 12) + i * 10_000);
  const timesAndWarnings = async (camera: string) => {
    const { sequences, warnings } = await planned(camera);
    return [sequences.map(({ items }) => items.map(({ at }) => at)), warnings];
  };
  const doubt = [expect.stringContaining('3 files state a time that cannot be')];

  it.each(['19700101_00001', '18991230_00001', '19040101_00001', '20990101_00001', '19800101_00001'])(
    'uses the time of modification instead of names as %s',
    async (lost) => {
      await writePictures(`names-${lost}`, byName(lost));
      expect(await timesAndWarnings(`names-${lost}`)).toEqual([[times], doubt]);
    },
  );

  it.each(['1970:01:01 00:00:12', '0000:00:00 00:00:00'])(
    'uses the time of modification instead of EXIF of %s',
    async (lost) => {
      const camera = `exif-${lost.slice(0, 4)}`;
      await writePictures(
        camera,
        (i) => `img${i}.jpg`,
        (i) => (isLost(i) ? lost : exifText(i)),
      );
      expect(await timesAndWarnings(camera)).toEqual([[times], [expect.any(String)]]);
    },
  );

  it('finds the change at its time', async () => {
    await writePictures('lost', byName('20990101_00001'));
    const { account, warnings, changes } = await footage('lost');
    expect(account).toBe('13 frames in = 13 looked at + 0 skipped');
    expect(changes).toEqual(['2026-06-01T12:00:50.000Z']);
    expect(warnings).toEqual(doubt);
  });
});

describe('bursts', () => {
  it('looks at all pictures of one second, in the order of their numbers', async () => {
    await mkdir(join(folder, 'burst'));
    const [empty, full] = await Promise.all([scene(96, 64).png().toBuffer(), scene(96, 64, [THING]).png().toBuffer()]);
    for (const mark of ['pre1', 'pre2', 'trg', 'pos1', 'pos2', 'pos10']) {
      const bytes = mark.startsWith('pre') ? empty : full;
      await writeFile(join(folder, 'burst', `20260601_120000_${mark}.png`), bytes);
    }
    const { account, changes } = await footage('burst', '--every', 'all');
    expect(account).toBe('6 frames in = 6 looked at + 0 skipped');
    expect(changes).toEqual(['2026-06-01T12:00:00.333Z']);
  });
});

describe('a header with an absurd length', () => {
  it.each([45, 400, 3_000])('decodes all of a video that states %d days', async (days) => {
    const file = `header-${days}.mp4`;
    await writeVideo(join(folder, file), [
      { frames: 20, blocks: [] },
      { frames: 20, blocks: [THING] },
    ]);
    await writeFile(join(folder, file), withLength(await readFile(join(folder, file)), days * 86_400));
    const { account, warnings, changes } = await footage(file, '--start', '2026-06-01T12:00:00Z');
    expect(account).toBe('10 frames in = 10 looked at + 0 skipped');
    expect(changes).toEqual(['2026-06-01T12:00:05.000Z']);
    expect(warnings).toEqual([expect.stringContaining(`its header states ${days * 86_400} s`)]);
  });
});

/** @returns the MP4 with another length in its movie header (`mvhd`, version 0) */
function withLength(bytes: Buffer, seconds: number): Buffer {
  const header = bytes.indexOf('mvhd');
  // After the name: version and flags, creation, modification, then the time scale and the length, 4 bytes each.
  bytes.writeUInt32BE(1, header + 16);
  bytes.writeUInt32BE(seconds, header + 20);
  return bytes;
}
