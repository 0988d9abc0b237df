/** The plan of a batch: inputs that can be used, and those that fail with their reason. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScenedeltaError } from '../../src/base/errors.js';
import { severalTimes } from '../../src/batches/materialize.js';
import { nothingToProcess, planBatch } from '../../src/batches/plan.js';
import { loadPlan, storePlan } from '../../src/batches/stored-plan.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { FootageSequence } from '../../src/footage/inputs/recording-plan.js';
import type { BatchRequest } from '../../src/stores/batches/batch-request.js';
import { FFMPEG } from '../footage/videos.js';
import { FakeBlobs } from '../helpers/fake-stores.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-plan-'));
});
afterAll(() => rm(folder, { recursive: true }));

const config = { ffmpeg: FFMPEG, videoPixelLimit: 1e8 };
const REQUEST: BatchRequest = {
  ...{ inputs: [], manifest: null, camera: null, settings: checkSettings({}), template: null, timeZone: null },
  ...{ start: null, imageInterval: 1, since: null, until: null, every: { mode: 'auto' }, acrossGaps: false },
  mergeWindow: null,
};
const plan = (request: Partial<BatchRequest>, s3?: unknown) =>
  planBatch(
    'bat',
    { ...REQUEST, ...request },
    {
      files: { uploadOf: (_batch, number) => join(folder, `upload-${number}`) },
      ...{ s3: s3 as never, config, clock: () => Date.UTC(2027, 0, 1) },
    },
    new AbortController().signal,
  );
const planManifest = async (lines: readonly unknown[], request: Partial<BatchRequest> = {}) => {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(join(folder, 'upload-1'), text);
  return plan({ manifest: 1, ...request });
};
const reasons = ({ failures }: Awaited<ReturnType<typeof plan>>) => failures.map(({ file, reason }) => [file, reason]);
const frame = (second: number) => ({
  file: `https://cam.example/${second}.jpg`,
  camera: 'yard',
  at: new Date(Date.UTC(2026, 5, 1) + second * 1000).toISOString(),
});

it('a bad line in the middle of a manifest is a failure with its number, and the others are planned', async () => {
  const planned = await planManifest([frame(0), 'nonsense', '', { file: 'ftp://x/a.jpg' }, frame(1)]);
  expect(planned.sequences.map(({ camera, items }) => [camera, items.length])).toEqual([['yard', 2]]);
  expect(reasons(planned)).toEqual([
    ['line 2 of the manifest', expect.stringContaining('JSON')],
    ['line 4 of the manifest', expect.stringContaining('file')],
  ]);
});

it('an address that comes twice with other values is a failure, and the first line counts', async () => {
  const planned = await planManifest([frame(0), frame(0), { ...frame(0), camera: 'gate' }, frame(1)]);
  expect(planned.sequences.map(({ camera, items }) => [camera, items.length])).toEqual([['yard', 2]]);
  expect(reasons(planned)).toEqual([[frame(0).file, expect.stringContaining('named twice')]]);
  expect(planned.warnings).toEqual(['1 input names a file again: it is processed once']);
});

it('addresses that differ in their query alone are files of their own', async () => {
  const lines = [1, 2].map((n) => ({ ...frame(n), file: `https://cam.example/snap.jpg?n=${n}` }));
  const planned = await planManifest(lines);
  expect(planned.sequences.map(({ items }) => items.map(({ location }) => location))).toEqual([
    lines.map(({ file }) => ({ from: 'url', url: file })),
  ]);
  expect(planned).toMatchObject({ failures: [], warnings: [] });
});

it('a bucket whose service is away is listed again, and then refused with its reason', async () => {
  let listings = 0;
  const s3 = {
    // biome-ignore lint/correctness/useYield: the listing fails before its first object
    async *list() {
      listings++;
      throw new ScenedeltaError('url-unavailable', 's3://archive/ at http://s3 cannot be listed');
    },
  };
  const inputs = [{ from: 's3', bucket: 'archive', prefix: '' }] as const;
  const planned = severalTimes(() => plan({ inputs }, s3), new AbortController().signal, [1, 1]);
  const message = 's3://archive/ at http://s3 cannot be listed, in 3 tries';
  await expect(planned).rejects.toMatchObject({ code: 'url-failed', message });
  expect(listings).toBe(3);
});

it('a manifest of many lines is read line by line, in the order of time', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => frame(19_999 - i));
  const planned = await planManifest(lines);
  const [sequence] = planned.sequences;
  expect(sequence?.items).toHaveLength(20_000);
  expect(sequence?.items[0]?.file).toBe('https://cam.example/0.jpg');
});

it('more bad lines than are listed are counted, with a warning', async () => {
  const planned = await planManifest([...Array.from({ length: 10_005 }, () => 'nonsense'), frame(0)]);
  expect([planned.failures.length, planned.unlisted]).toEqual([10_000, 5]);
  expect(planned.warnings).toEqual(['5 more inputs failed: the first 10000 are listed with their reasons']);
});

describe('the stored plan of a camera', () => {
  const sequenceOf = (count: number): FootageSequence => ({
    ...{ camera: 'yard', range: { from: 0, until: 1e15 }, endsAt: 5, gapMs: 60_000 },
    items: Array.from({ length: count }, (_, i) => {
      const url = `https://cam.example/${i}.jpg`;
      return { kind: 'image', file: i % 2 === 0 ? url : `${i}.jpg`, location: { from: 'url', url }, at: i };
    }),
  });

  it.each([1, 20_000, 45_000])('with %d files is read as it was, from blobs of at most 20,000', async (count) => {
    const blobs = new FakeBlobs();
    await storePlan('bat', 0, sequenceOf(count), blobs);
    expect(blobs.kept.size).toBe(Math.ceil(count / 20_000));
    expect(await loadPlan('bat', 0, blobs)).toEqual(sequenceOf(count));
  });

  it('is gone if a part is', async () => {
    const blobs = new FakeBlobs();
    await storePlan('bat', 1, sequenceOf(45_000), blobs);
    await blobs.delete('batches/bat/plan-1-2.json');
    await expect(loadPlan('bat', 1, blobs)).rejects.toMatchObject({ code: 'gone' });
  });
});

it('an address or an object that states no time is a failure, and never from 1970', async () => {
  const planned = await planManifest([frame(0), { file: 's3://archive/a.mp4' }, { file: 'https://cam.example/a.jpg' }]);
  const expected = expect.stringContaining('states no capture time: expected `at`, `start`');
  expect(reasons(planned)).toEqual([
    ['s3://archive/a.mp4', expected],
    ['https://cam.example/a.jpg', expected],
  ]);
});

it('objects without a time in their names have that of their last modification, with a warning', async () => {
  const s3 = {
    async *list() {
      yield { key: 'yard/gate.jpg', size: 1, lastModified: Date.UTC(2026, 5, 2) };
    },
  };
  const input = { from: 's3', bucket: 'archive', prefix: 'yard/' } as const;
  const planned = await plan({ inputs: [input] }, s3);
  expect(planned.sequences[0]?.items[0]?.at).toBe(Date.UTC(2026, 5, 2));
  expect(planned.warnings).toEqual([expect.stringContaining('1 file states no time: the time of the last modif')]);
});

it('a video at an address takes the start, and files after it need times of their own', async () => {
  const files = ['a.mp4', 'b.mp4'].map((name) => ({ file: `https://cam.example/yard/${name}` }));
  const planned = await planManifest(files, { start: Date.UTC(2026, 5, 1) });
  expect(planned.sequences.map(({ items }) => items.map(({ file, at }) => [file, at]))).toEqual([
    [['https://cam.example/yard/a.mp4', Date.UTC(2026, 5, 1)]],
  ]);
  expect(reasons(planned)).toEqual([
    ['https://cam.example/yard/b.mp4', expect.stringContaining('length is not known')],
  ]);
});

it('names that do not fit the template are failures, and nothing left names the first of them', async () => {
  const lines = [{ file: 'https://cam.example/odd.jpg' }];
  const planned = await planManifest(lines, { template: '{camera}/{t:%Y%m%d-%H%M%S}.jpg' });
  expect(planned.failures).toHaveLength(1);
  expect(nothingToProcess(planned).message).toContain(
    'expected videos or pictures, and 1 input failed, https://cam.example/odd.jpg: the name does not',
  );
});

it('nothing to process names the times only if they left recordings out', async () => {
  const none = { async *list() {} };
  const input = { from: 's3', bucket: 'archive', prefix: 'yard/' } as const;
  expect(nothingToProcess(await plan({ inputs: [input] }, none)).message).toBe(
    'expected videos or pictures, and the inputs have none',
  );
  const late = { since: Date.UTC(2026, 5, 2) };
  expect(nothingToProcess(await planManifest([frame(0)], late)).message).toBe(
    'expected videos or pictures, and all recordings lie outside since and until',
  );
  const both = nothingToProcess(await planManifest([frame(0), 'nonsense'], late)).message;
  expect(both).toContain('outside since and until; 1 input failed, line 2 of the manifest');
});
