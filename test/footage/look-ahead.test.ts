/** Comparisons ahead of the loop: any number of them gives the records, checkpoints and pictures of none. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import pLimit from 'p-limit';
import { ScenedeltaError } from '../../src/base/errors.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { localFiles } from '../../src/footage/inputs/local-files.js';
import { recordedCamera } from '../../src/footage/replay/recorded-camera.js';
import { type CheckpointStore, storedCheckpoint } from '../../src/footage/run/checkpoint.js';
import { FramePictures } from '../../src/footage/run/frame-pictures.js';
import { runSequence } from '../../src/footage/run/sequence-run.js';
import { walkingPipeline } from '../helpers/cameras.js';
import { frameOf, type Scene } from '../helpers/sequences.js';

jest.setTimeout(240_000);

const START = Date.UTC(2026, 5, 1, 12);
const SCENES: readonly Scene[] = [
  { noise: 'a' },
  { noise: 'b' },
  { things: [[40, 120, 20, 40, [220, 40, 40]]] },
  { things: [[44, 120, 20, 40, [220, 40, 40]]] },
  { things: [[200, 60, 30, 30, [240, 240, 240]]], noise: 'c' },
  { gain: 0.2, noise: 'd' },
];
const NOT_AN_IMAGE = SCENES.length;
/** Pictures that differ by their noise. */
const CALM = Array.from({ length: 12 }, (_, i) => NOT_AN_IMAGE + 1 + i);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-ahead-'));
  for (const [i, scene] of SCENES.entries()) await writeFile(join(folder, `${i}.jpg`), await frameOf(scene));
  for (const i of CALM) await writeFile(join(folder, `${i}.jpg`), await frameOf({ noise: `calm ${i}` }));
  await writeFile(
    join(folder, `${NOT_AN_IMAGE}.jpg`),
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(99)]),
  );
});
afterAll(() => rm(folder, { recursive: true }));

/** An archive: pictures by their number, each `step` seconds after the one before. */
interface Archive {
  readonly pictures: readonly { readonly picture: number; readonly step: number }[];
  readonly before: 'previous' | 'reference' | 'memory';
  readonly zone: 'include' | 'privacy' | null;
}

const arbitraryArchive: fc.Arbitrary<Archive> = fc.record({
  pictures: fc.array(
    fc.record({
      picture: fc.oneof({ weight: 20, arbitrary: fc.nat(SCENES.length - 1) }, fc.constant(NOT_AN_IMAGE)),
      step: fc.constantFrom(1, 1, 1, 20, 310, 900),
    }),
    { minLength: 1, maxLength: 24 },
  ),
  before: fc.constantFrom('previous', 'reference', 'memory'),
  zone: fc.constantFrom('include', 'privacy', null),
});

/**
 * @param ahead comparisons ahead of the loop at a time; 0: none
 * @returns all that is saved, as text, and the number of comparisons
 */
async function run(
  { pictures, before, zone }: Archive,
  ahead: number,
  onCompare: (call: number) => Promise<void> | void = () => {},
  { signal } = new AbortController(),
) {
  let at = START;
  const items = pictures.map(({ picture, step }, i) => {
    at += step * 1000;
    const location = { from: 'file' as const, path: join(folder, `${picture}.jpg`) };
    return { kind: 'image' as const, file: `${i}.jpg`, location, at };
  });
  const polygon: [number, number][] = [
    [0.5, 0],
    [1, 0],
    [1, 1],
    [0.5, 1],
  ];
  const zones = zone === null ? [] : [{ id: 'half', type: zone, polygon }];
  let calls = 0;
  const { pipeline } = walkingPipeline();
  const counted: typeof pipeline = {
    ...pipeline,
    async compare(input) {
      const call = calls++;
      for (let i = 0; i < (call * 7) % 5; i++) await setImmediate();
      await onCompare(call);
      return pipeline.compare(input);
    },
  };
  const saved: string[] = [];
  const checkpoints: CheckpointStore = {
    load: async () => undefined,
    save: async ({ checkpoint, records, pictures: files, blobs }) => {
      const bytes = [...files.map((file) => [file.name, file.bytes] as const), ...blobs];
      const texts = bytes.map(([name, data]) => [name, Buffer.from(data).toString('base64')]);
      saved.push(JSON.stringify([storedCheckpoint(checkpoint), records, texts.sort()]));
    },
  };
  await runSequence(
    { camera: 'yard', items, range: { from: START, until: Number.POSITIVE_INFINITY }, endsAt: at, gapMs: 600_000 },
    recordedCamera('yard', checkSettings({ before, zones })),
    {
      ...{ pipeline: counted, decodeLimits: { pixelLimit: 1_000_000 }, checkpoints },
      ...(ahead === 0 ? {} : { ahead: { limit: pLimit(ahead) } }),
      source: {
        ...{ ffmpeg: 'ffmpeg', ffmpegHwaccel: 'none' as const, videoPixelLimit: 1_000_000, frameLimit: 1_000_000 },
        every: { mode: 'all' as const },
        materialize: localFiles(folder, undefined),
      },
    },
    signal,
  );
  return { saved, calls };
}

it('gives the same bytes with 1 and with 4 comparisons ahead as with none, in each mode', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryArchive, async (archive) => {
      const { saved } = await run(archive, 0);
      for (const ahead of [1, 4]) expect((await run(archive, ahead)).saved).toEqual(saved);
    }),
    { numRuns: 6 },
  );
});

/** Lets no caller pass before `count` wait. */
function gate(count: number) {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  let waiting = 0;
  return {
    pass: () => {
      if (++waiting === count) open();
      return isOpen;
    },
  };
}

/** Each picture is examined, because its time has come, and nothing changes: all guesses are right. */
const calm: Archive = { pictures: CALM.map((picture) => ({ picture, step: 310 })), before: 'previous', zone: null };

it('compares several pairs at a time', async () => {
  const pairs = gate(4);
  // Without four at a time the first one would never end.
  await expect(run(calm, 4, pairs.pass)).resolves.toMatchObject({ calls: CALM.length - 1 });
});

it('does not compare a pair twice if its guesses are right', async () => {
  const none = await run(calm, 0);
  const ahead = await run(calm, 4);
  expect(ahead.calls).toBe(none.calls);
});

it('compares again what has failed ahead of the loop', async () => {
  const { saved } = await run(calm, 0);
  // Four run at a time, so that the last of them is ahead of the loop, however slow the machine is.
  const pairs = gate(4);
  const once = await run(calm, 4, async (call) => {
    await pairs.pass();
    if (call === 3) throw new ScenedeltaError('processing-timeout', 'too slow');
  });
  expect(once.saved).toEqual(saved);
});

it('accounts for no frame at which it is interrupted, because that frame comes in again', async () => {
  const controller = new AbortController();
  const interrupt = (call: number) => {
    if (call !== 3) return;
    controller.abort();
    controller.signal.throwIfAborted();
  };
  const { saved } = await run(calm, 0, interrupt, controller);
  const [{ account, counts }] = JSON.parse(saved.at(-1) ?? '[]');
  expect(account.in).toBe(4);
  expect(account.in).toBe(counts.frames);
});

it('knows a frame by its content before the mask, also when its preview is painted', async () => {
  const polygon: [number, number][] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const masked = recordedCamera('yard', checkSettings({ zones: [{ id: 'all', type: 'privacy', polygon }] }));
  const pictures = new FramePictures(masked, { pixelLimit: 1_000 });
  const size = { width: 4, height: 4 };
  const preview = { ...size, luma: new Uint8Array(16).fill(200), source: size };
  const picture = { from: 'video' as const, image: () => ({ ...size, data: new Uint8Array(48) }), preview };
  const content = pictures.content(picture);
  expect((await pictures.preview(picture)).luma).toEqual(new Uint8Array(16));
  expect(pictures.content(picture)).toBe(content);
});
