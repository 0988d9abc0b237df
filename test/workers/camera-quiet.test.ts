/** Quiet frames of a camera: they get the answer of the examined frame, and changes go on as if all were examined. */
import { describe, expect, it } from '@jest/globals';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { at, codes, EMPTY, runsOn, T, WITH_CAR, WITH_DOG } from '../helpers/camera-runs.js';
import { picture, pixelPipeline, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const run = runsOn(() => bench);
type Timed = readonly [frame: Promise<Buffer>, seconds: number];
const RULE = { examine_every_s: 60 };

async function send(camera: StoredCamera, frames: readonly Timed[]) {
  const { pipeline, calls } = pixelPipeline();
  const comparisons = await run(camera, frames, turnProcessor(bench, { pipeline }));
  return { comparisons, looks: calls.length };
}
const every = (frame: Promise<Buffer>, from: number, to: number): Timed[] =>
  Array.from({ length: to - from }, (_, i) => [frame, from + i] as const);
const isQuiet = ({ camera_frame }: Comparison) => camera_frame?.nothing_new_since !== undefined;
/** Changes without the ids of comparisons, which are drawn at random. */
const changesOf = async (camera: string) =>
  (await bench.changes.list({ camera, limit: 10 })).items
    .map(({ comparisons: _ids, id: _id, camera: _camera, ...change }) => change)
    .reverse();

/** One frame every three seconds. */
const DAY: Timed[] = [
  ...every(EMPTY, 0, 3),
  ...every(WITH_CAR, 3, 12),
  ...every(EMPTY, 12, 28),
  ...every(WITH_DOG, 28, 29),
  ...every(EMPTY, 29, 31),
  ...every(WITH_DOG, 31, 56),
].map(([frame, index]) => [frame, 3 * index]);

describe.each(['previous', 'reference', 'memory'])('with before: %s', (before) => {
  it('the changes are the same, at the same times, whether or not every frame is examined', async () => {
    const settings = { before, alerts: { confirm_frames: 3, persist_s: 4 }, memory: { absorb_s: 60 } };
    const always = await setUpCamera(bench, 'always', { ...settings, examine_every_s: 0 });
    const ruled = await setUpCamera(bench, 'ruled', { ...settings, ...RULE });
    const examined = await send(always, DAY);
    const quiet = await send(ruled, DAY);
    expect(await changesOf('ruled')).toEqual(await changesOf('always'));
    const answersOf = ({ comparisons }: typeof quiet) =>
      comparisons.map(({ verdict, kind, regions, severity }) => ({ verdict, kind, regions, severity }));
    expect(answersOf(quiet)).toEqual(answersOf(examined));
    expect(quiet.looks).toBeLessThan(examined.looks / 2);
    expect(quiet.comparisons.filter(isQuiet)).toHaveLength(DAY.length - 1 - quiet.looks);
  }, 60_000);

  it('the answer names the comparison of the examined frame', async () => {
    const camera = await setUpCamera(bench, 'gate', { ...RULE, before, alerts: { confirm_frames: 2 } });
    const { comparisons, looks } = await send(camera, [...every(EMPTY, 0, 1), ...every(WITH_CAR, 1, 5)]);
    expect(comparisons.map(isQuiet)).toEqual([false, false, false, true, true]);
    expect(looks).toBe(2);
    const [, , examined, quiet] = comparisons;
    expect(quiet?.camera_frame?.nothing_new_since).toEqual({
      comparison: examined?.id,
      captured_at: new Date(at(2)).toISOString(),
    });
    expect(quiet?.timings_ms).toMatchObject({ register: 0, encode: 0, caption: 0, quiet: expect.any(Number) });
  });
});

it('an unconfirmed change is confirmed by looks of its own, and a full look follows after examine_every_s', async () => {
  const camera = await setUpCamera(bench, 'gate', {
    examine_every_s: 10,
    before: 'reference',
    alerts: { confirm_frames: 4 },
  });
  const { comparisons } = await send(camera, [...every(EMPTY, 0, 1), ...every(WITH_CAR, 1, 26)]);
  const examined = comparisons.flatMap((comparison, i) => (isQuiet(comparison) ? [] : [i]));
  expect(examined.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
  const later = examined.slice(4);
  for (const [i, second] of later.slice(1).entries()) expect(later[i]).toBeGreaterThanOrEqual(second - 10);
  expect(later).toHaveLength(3);
});

it('cameras that began together do not all need the model in the same second', async () => {
  const next = new Set<number>();
  for (let i = 0; i < 8; i++) {
    const camera = await setUpCamera(bench, `gate-${i}`, { examine_every_s: 10, before: 'reference' });
    const { comparisons } = await send(camera, every(EMPTY, 0, 11));
    next.add(comparisons.findIndex((comparison, second) => second > 1 && !isQuiet(comparison)));
  }
  expect(Math.min(...next)).toBeGreaterThanOrEqual(8);
  expect(Math.max(...next)).toBeLessThanOrEqual(10);
  expect(next.size).toBeGreaterThan(1);
});

it.each<[string, object]>([
  ['its settings', { min_area: 0.001 }],
  ['its threshold', { threshold: 0.5 }],
])('a frame is examined after the camera got new settings: %s', async (_what, change) => {
  const camera = await setUpCamera(bench, 'gate', RULE);
  await send(camera, every(EMPTY, 0, 3));
  const updated = await setUpCamera(bench, 'gate', { ...RULE, ...change }, { updated_at: '2026-02-01T00:00:00.000Z' });
  const { comparisons } = await send(updated, every(EMPTY, 3, 5));
  expect(comparisons.map(isQuiet)).toEqual([false, true]);
});

it('a frame is examined after a gap, after an order to reset, and with another size', async () => {
  const camera = await setUpCamera(bench, 'gate', { ...RULE, gap_s: 5 });
  await send(camera, every(EMPTY, 0, 3));
  const late = await send(camera, [[EMPTY, 10]]);
  expect(late.comparisons.map((one) => [isQuiet(one), codes(one)])).toEqual([[false, ['gap']]]);
  await bench.cameras.orderBaseline('gate', { type: 'baseline.reset' });
  expect((await send(camera, [[EMPTY, 11]])).comparisons.map(isQuiet)).toEqual([false]);
  expect((await send(camera, [[picture({ width: 192, height: 128 }), 12]])).comparisons.map(isQuiet)).toEqual([false]);
});

it('a change in an ignored zone is quiet', async () => {
  const zones = [
    {
      id: 'street',
      type: 'ignore',
      polygon: [
        [0.5, 0.3],
        [1, 0.3],
        [1, 0.8],
        [0.5, 0.8],
      ],
    },
  ];
  const camera = await setUpCamera(bench, 'gate', { ...RULE, zones });
  const { comparisons } = await send(camera, [
    [EMPTY, 0],
    [EMPTY, 1],
    [WITH_CAR, 2],
    [WITH_DOG, 3],
  ]);
  expect(comparisons.map(isQuiet)).toEqual([false, true, true, false]);
  expect(comparisons.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'none', 'change']);
});

it('in a light without a background, frames that equal an examined one are quiet while a change lasts', async () => {
  const camera = await setUpCamera(bench, 'gate', { ...RULE, before: 'memory', alerts: { confirm_frames: 2 } });
  const night = picture({ background: [100, 100, 100], things: [[60, 30, 12, 10, [200, 200, 200]]] });
  const { comparisons } = await send(camera, [[EMPTY, 0], ...every(night, 1, 6)]);
  expect(codes(comparisons[1])).toEqual(['other_light']);
  expect(comparisons.map(isQuiet)).toEqual([false, false, false, true, true, true]);
  expect(comparisons.map(({ verdict }) => verdict)).toEqual(['none', ...Array(5).fill('change')]);
});

it('another worker, without the preview of the examined frame, goes on; a lost frame means a full look', async () => {
  const camera = await setUpCamera(bench, 'gate', RULE);
  await send(camera, every(EMPTY, 0, 2));
  expect((await send(camera, [[EMPTY, 2]])).comparisons.map(isQuiet)).toEqual([true]);
  const state = await bench.cameras.state('gate');
  await bench.blobs.delete(`frames/${state?.examined?.frame.sha256.slice(0, 2)}/${state?.examined?.frame.sha256}`);
  const grey = picture({ background: [91, 121, 151] });
  expect((await send(camera, [[grey, 3]])).comparisons.map(isQuiet)).toEqual([false]);
});

it('a camera that repeats one picture is stuck until it sends another one', async () => {
  const camera = await setUpCamera(bench, 'gate', { ...RULE, frozen_after_s: 100 });
  const stuck = Array.from({ length: 30 }, (_, i) => [EMPTY, 10 * i] as const);
  const { comparisons } = await send(camera, stuck);
  expect(comparisons.map((one) => codes(one)?.includes('frozen'))).toEqual(stuck.map(([, seconds]) => seconds >= 100));
  expect((await bench.cameras.state('gate'))?.still).toMatchObject({ since: T, stuck: true });
  await send(camera, [
    [WITH_CAR, 300],
    [EMPTY, 310],
  ]);
  expect((await bench.cameras.state('gate'))?.still).toBeUndefined();
});

it('a covered lens is examined', async () => {
  const camera = await setUpCamera(bench, 'gate', RULE);
  const { comparisons } = await send(camera, [
    [EMPTY, 0],
    [EMPTY, 1],
    [picture({ background: [2, 2, 2] }), 2],
  ]);
  expect(comparisons.map(isQuiet)).toEqual([false, true, false]);
});
