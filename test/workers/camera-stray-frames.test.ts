/** Single frames that do not fit the camera: another size, rotated, dark, damaged, or of another camera. */
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { decodeFrame } from '../../src/frames/decode.js';
import type { TurnDependencies } from '../../src/workers/camera-turn.js';
import { at, codes, EMPTY, runsOn, WITH_CAR } from '../helpers/camera-runs.js';
import { GREEN, HEIGHT, picture, pixelPipeline, setUpCamera, turnProcessor, WIDTH } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

const isoAt = (seconds: number) => new Date(at(seconds)).toISOString();
const ALERTS = { callback_url: 'http://receiver.example/', cooldown_s: 0 };
const SQUARE = picture({ width: 64, height: 64, grain: true });
const LARGE = picture({ width: 2 * WIDTH, height: 2 * HEIGHT });
const DARK = picture({ background: [2, 2, 2] });
/** The same view, stored on its side as phones do; a reader that respects EXIF sees 64x96 px. */
const ROTATED = picture({ grain: true }).then((bytes) =>
  sharp(bytes).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
);

type Timed = readonly [frame: Promise<Buffer>, seconds: number];
const OPENED: readonly Timed[] = [
  [EMPTY, 0],
  [WITH_CAR, 10],
  [WITH_CAR, 20],
];

const run = runsOn(() => bench);
const send = (camera: StoredCamera, frames: readonly Timed[], pipeline = pixelPipeline().pipeline) =>
  run(camera, frames, turnProcessor(bench, { pipeline }));

const state = async () => {
  const found = await bench.cameras.state('gate');
  if (found === undefined) throw new Error('the camera has no state');
  return found;
};
const changes = async () => (await bench.changes.list({ camera: 'gate', limit: 10 })).items;

describe.each(['previous', 'reference', 'memory'])('with before: %s, a frame of another shape', (before) => {
  it.each([
    ['another size', SQUARE],
    ['an EXIF rotation', ROTATED],
  ])('(%s) is noted and compared with nothing, and does not interrupt a confirmation', async (_what, stray) => {
    const camera = await setUpCamera(bench, 'gate', { before, alerts: { ...ALERTS, confirm_frames: 3 } });
    await send(camera, OPENED);
    const earlier = await state();
    const [odd, next] = await send(camera, [
      [stray, 30],
      [WITH_CAR, 40],
    ]);
    expect(odd).toMatchObject({
      status: 'finished',
      verdict: 'none',
      model: null,
      caption: 'This frame is not compared because it has another size.',
      camera_frame: { before: null },
    });
    expect(codes(odd)).toEqual(['size_changed']);
    expect(odd?.camera_frame?.notes[0]?.detail).toMatch(/^the frames had 96x64 px, this one has 64x/);
    expect(odd?.camera_frame?.notes[0]?.detail).toContain('(1 of 3 frames in a row');
    expect(next).toMatchObject({ verdict: 'change' });
    expect(codes(next)).toEqual([]);
    expect(await changes()).toMatchObject([{ status: 'opened', confirmed_at: isoAt(40) }]);
    const { backgrounds, size, otherSize } = await state();
    expect({ backgrounds, size, otherSize }).toEqual({ backgrounds: earlier.backgrounds, size: earlier.size });
  });
});

describe.each(['reference', 'memory'])('with before: %s, frames of another shape', (before) => {
  const SETTINGS = { before, alerts: ALERTS };

  it('start a new baseline from the third in a row on, and settle what is open without an alert', async () => {
    const camera = await setUpCamera(bench, 'gate', SETTINGS);
    await send(camera, OPENED);
    const squares = await send(
      camera,
      [30, 40, 50, 60].map((seconds) => [SQUARE, seconds]),
    );
    expect(squares.map((square) => codes(square)?.[0])).toEqual([...Array(3).fill('size_changed'), undefined]);
    expect(squares.map(({ camera_frame }) => camera_frame?.before != null)).toEqual([...[false, false, false], true]);
    expect(await changes()).toMatchObject([{ settled_at: isoAt(50), reverted_at: null }]);
    expect(await bench.redis.keys('sd:alr:*')).toHaveLength(1);
    expect(await state()).toMatchObject({ size: { width: 64, height: 64 }, tracker: { tracks: [] } });
  });

  it('that alternate with the others never start one', async () => {
    const camera = await setUpCamera(bench, 'gate', SETTINGS);
    await send(camera, OPENED);
    const { backgrounds } = await state();
    const mixed = await send(
      camera,
      Array.from({ length: 12 }, (_, i) => [i % 3 === 2 ? WITH_CAR : SQUARE, 30 + 10 * i] as const),
    );
    expect(mixed.map(({ verdict }) => verdict)).toEqual(Array(4).fill(['none', 'none', 'change']).flat());
    expect(await changes()).toMatchObject([{ status: 'persisting', settled_at: null }]);
    expect((await state()).backgrounds).toEqual(backgrounds);
  });
});

it('a frame that cannot be read is kept as the failure of the camera until one is compared', async () => {
  const camera = await setUpCamera(bench, 'gate', { alerts: ALERTS });
  const broken = Promise.resolve(Buffer.from('no picture'));
  const [failed] = await send(camera, [[broken, 0]]);
  expect(failed?.status).toBe('failed');
  const [record] = await bench.cameras.records('everything');
  expect(record?.failure).toEqual({ at: isoAt(0), error: failed?.error?.detail });
  await send(camera, [[EMPTY, 10]]);
  expect(await bench.cameras.failure('gate')).toBeUndefined();
});

it('A frame of another size and the same shape is compared, but does not become the background', async () => {
  const camera = await setUpCamera(bench, 'gate', { before: 'memory', alerts: ALERTS });
  await send(camera, [[EMPTY, 0]]);
  const { backgrounds } = await state();
  const { pipeline, calls } = pixelPipeline();
  const unchanged: TurnDependencies['pipeline'] = {
    ...pipeline,
    async compare(input) {
      const compared = await pipeline.compare(input);
      return { ...compared, finding: { ...compared.finding, verdict: 'none', kind: 'none', regions: [] } };
    },
  };
  const [first] = await send(camera, [[LARGE, 10]], unchanged);
  expect(calls).toHaveLength(1);
  expect(codes(first)).toEqual(['size_changed']);
  expect((await state()).backgrounds).toEqual(backgrounds);
  const [, , last] = await send(
    camera,
    [20, 30, 40].map((seconds) => [LARGE, seconds]),
    unchanged,
  );
  expect(codes(last)).toEqual([]);
  expect((await state()).backgrounds.day?.width).toBe(2 * WIDTH);
});

describe('dark frames', () => {
  /** Finds a nuisance alone in every dark frame. */
  const pipeline = (() => {
    const { pipeline: pixels } = pixelPipeline();
    return {
      ...pixels,
      async compare(input: Parameters<typeof pixels.compare>[0]) {
        const compared = await pixels.compare(input);
        const { data } = await sharp(input.after).raw().toBuffer({ resolveWithObject: true });
        if ((data[0] ?? 255) > 40) return compared;
        const nuisance = [{ name: 'ir_switch', score: 0.9 }];
        const finding = {
          ...compared.finding,
          verdict: 'nuisance' as const,
          kind: 'none' as const,
          nuisance,
        };
        return { ...compared, finding: { ...finding, regions: [] } };
      },
    } satisfies TurnDependencies['pipeline'];
  })();

  it('leave an open change open if they are fewer than three in a row', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory', alerts: ALERTS });
    const light = [30, 60].flatMap((s): Timed[] => [
      [DARK, s],
      [DARK, s + 10],
      [WITH_CAR, s + 20],
    ]);
    await send(camera, [...OPENED, ...light], pipeline);
    expect(await changes()).toMatchObject([{ status: 'persisting', settled_at: null, last_seen: isoAt(80) }]);
    expect(Object.keys((await state()).backgrounds)).toEqual(['day']);
  });

  it('begin a background of their own at once if nothing is open', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory', alerts: ALERTS });
    await send(camera, [OPENED[0] as Timed, [DARK, 10]], pipeline);
    expect(Object.keys((await state()).backgrounds)).toHaveLength(2);
  });
});

describe.each(['previous', 'reference', 'memory'])('with before: %s, a damaged frame', (before) => {
  const DAMAGED = WITH_CAR.then((bytes) => bytes.subarray(0, bytes.length - 40));
  const { pipeline: pixels } = pixelPipeline();
  /** Refuses frames without pixels, as the real pipeline does. */
  const pipeline: TurnDependencies['pipeline'] = {
    ...pixels,
    async compare(input) {
      await decodeFrame(input.before, { field: 'before', pixelLimit: 50_000_000 });
      await decodeFrame(input.after, { field: 'after', pixelLimit: 50_000_000 });
      return pixels.compare(input);
    },
  };

  it('that comes first fails, and the next frame starts the baseline', async () => {
    const camera = await setUpCamera(bench, 'gate', { before });
    const frames: readonly Timed[] = [
      [DAMAGED, 0],
      [EMPTY, 10],
      [WITH_CAR, 20],
    ];
    const [damaged, first, second] = await send(camera, frames, pipeline);
    expect(damaged).toMatchObject({ status: 'failed', error: { status: 422 } });
    expect(damaged?.error?.type).toMatch(/image-unreadable$/);
    expect(codes(first)).toEqual(['first_frame']);
    expect(second).toMatchObject({ status: 'finished', verdict: 'change' });
  });

  it('between others fails alone', async () => {
    const camera = await setUpCamera(bench, 'gate', { before, alerts: ALERTS });
    await send(camera, OPENED);
    const earlier = await state();
    const [damaged] = await send(camera, [[DAMAGED, 30]], pipeline);
    expect(damaged).toMatchObject({ status: 'failed', error: { status: 422 } });
    expect(await state()).toEqual(earlier);
  });
});

describe("frames of two cameras that alternate on one camera's route", () => {
  const OTHER = picture({ background: [200, 60, 60], things: [[10, 10, 30, 30, GREEN]] });

  it.each(['previous', 'reference', 'memory'])('open nothing with before: %s', async (before) => {
    const camera = await setUpCamera(bench, 'gate', { before, alerts: ALERTS });
    await send(
      camera,
      Array.from({ length: 14 }, (_, i) => [i % 2 === 0 ? EMPTY : OTHER, 10 * i] as const),
    );
    expect(await changes()).toEqual([]);
    expect((await state()).backgrounds.infrared).toBeUndefined();
  });
});
