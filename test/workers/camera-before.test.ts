import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { at, beforeAt, codes, EMPTY, runsOn, WITH_CAR, WITH_DOG } from '../helpers/camera-runs.js';
import { picture, pixelPipeline, sendFrame, setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());
const run = runsOn(() => bench);

describe('"before" in mode', () => {
  it('previous stays the same frame while a change awaits its confirmation, then follows', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'previous', alerts: { confirm_frames: 3 } });
    const all = await run(camera, [
      [EMPTY, 0],
      [WITH_CAR, 1],
      [WITH_CAR, 2],
      [WITH_CAR, 3],
      [WITH_CAR, 4],
    ]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['none', 'change', 'change', 'change', 'none']);
    const first = '2026-06-01T12:00:00.000Z';
    expect(all.slice(1).map(beforeAt)).toEqual([first, first, first, '2026-06-01T12:00:03.000Z']);
    const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
    expect(items).toMatchObject([{ kind: 'appear', first_seen: '2026-06-01T12:00:01.000Z' }]);
  });

  it('reference is always the given frame', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'reference' });
    const first = await sendFrame(bench, camera, await EMPTY, at(0));
    await workOff('gate', turnProcessor(bench));
    const stored = await bench.results.get(first);
    const given = { ...camera, reference: stored?.frames.after ?? null };
    await bench.cameras.put(given);
    const all = await run(given, [
      [WITH_CAR, 1],
      [WITH_CAR, 2],
      [EMPTY, 3],
      [WITH_DOG, 4],
    ]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['change', 'change', 'none', 'change']);
    const shas = await Promise.all(all.map(async ({ id }) => (await bench.results.get(id))?.frames.before?.sha256));
    expect(new Set(shas)).toEqual(new Set([stored?.frames.after?.sha256]));
  });

  it('reference is the first frame if none was given', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'reference' });
    const all = await run(camera, [
      [EMPTY, 0],
      [WITH_CAR, 1],
      [WITH_DOG, 2],
      [EMPTY, 3],
    ]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['none', 'change', 'change', 'none']);
    expect(all.slice(1).map(beforeAt)).toEqual(Array(3).fill('2026-06-01T12:00:00.000Z'));
  });

  it('reference of another shape is not replaced: the comparison fails with the reason', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'reference' });
    const first = await sendFrame(bench, camera, await EMPTY, at(0));
    await workOff('gate', turnProcessor(bench));
    const given = { ...camera, reference: (await bench.results.get(first))?.frames.after ?? null };
    await bench.cameras.put(given);
    const refusing = pixelPipeline({
      onCompare: () => {
        throw new ScenedeltaError('frames-differ-in-shape', 'before has 96x64 px and after 64x64 px', {
          field: 'after',
        });
      },
    });
    const processor = turnProcessor(bench, { pipeline: refusing.pipeline });
    const [square] = await run(given, [[picture({ width: 64, height: 64 }), 1]], processor);
    expect(square?.error?.type).toMatch(/frames-differ-in-shape$/);
    expect(refusing.calls).toHaveLength(1);
  });

  it('memory shows a parked car as a change until it is part of the background, and then its departure', async () => {
    const settings = {
      before: 'memory',
      memory: { absorb_s: 60 },
      alerts: { confirm_frames: 1 },
      gap_s: 10_000,
    };
    const camera = await setUpCamera(bench, 'gate', settings);
    const all = await run(camera, [
      [EMPTY, 0],
      [EMPTY, 10],
      [WITH_CAR, 20],
      [WITH_CAR, 50],
      [WITH_CAR, 81],
      [WITH_CAR, 90],
      [EMPTY, 100],
    ]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'change', 'change', 'change', 'none', 'change']);
    expect(await bench.cameras.state('gate')).toMatchObject({ light: 'day' });
  });

  it('memory has a background per light', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory', gap_s: 10_000 });
    const night = picture({ background: [100, 100, 100] });
    const nightCar = picture({ background: [100, 100, 100], things: [[60, 30, 12, 10, [200, 200, 200]]] });
    const all = await run(camera, [
      [EMPTY, 0],
      // Grey and hardly different otherwise: no change by itself.
      [picture({ background: [120, 120, 120] }), 10],
      [night, 20],
      [EMPTY, 30],
      [nightCar, 40],
    ]);
    expect(codes(all[1])).toEqual(['other_light']);
    expect(codes(all[2])).toEqual([]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'none', 'none', 'change']);
    const state = await bench.cameras.state('gate');
    expect(Object.keys(state?.backgrounds ?? {}).sort()).toEqual(['day', 'infrared']);
    expect(beforeAt(all[4] as Comparison)).toBe('2026-06-01T12:00:10.000Z');
  });
});

describe('a baseline that is reset while a change is open', () => {
  const alerts = { confirm_frames: 2, callback_url: 'http://receiver.example/' };
  /** It shows none of the tracked things, and does not differ from itself. */
  const OTHER = picture({ background: [150, 120, 90] });
  const ZONE = {
    id: 'window',
    type: 'privacy',
    polygon: [
      [0, 0],
      [0.1, 0],
      [0.1, 0.1],
    ],
  };
  const alerted = async () => (await bench.redis.keys('sd:alr:*')).length;
  const changes = async () => (await bench.changes.list({ camera: 'gate', limit: 10 })).items;

  /** Opens a change, resets the baseline with the next frame, and sends two more frames of the same kind. */
  async function beginsAnew(
    settings: object,
    again: object,
    change: Partial<StoredCamera> = {},
    frame = OTHER,
    meanwhile = async () => {},
  ) {
    const camera = await setUpCamera(bench, 'gate', settings);
    await run(camera, [
      [EMPTY, 0],
      [WITH_CAR, 1],
      [WITH_CAR, 2],
    ]);
    expect(await changes()).toMatchObject([{ settled_at: null, reverted_at: null }]);
    expect(await alerted()).toBe(1);
    await meanwhile();
    const next = await setUpCamera(bench, 'gate', again, change);
    await run(next, [
      [frame, 3],
      [frame, 4],
      [frame, 5],
    ]);
    expect(await changes()).toMatchObject([{ settled_at: '2026-06-01T12:00:03.000Z', reverted_at: null }]);
    expect(await alerted()).toBe(1);
    expect(await bench.cameras.state('gate')).toMatchObject({ tracker: { tracks: [] } });
  }
  const fixed = { before: 'reference', alerts };
  const memory = { before: 'memory', alerts };

  it('by other privacy zones settles the change, without an alert that it has gone', async () => {
    await beginsAnew(fixed, { ...fixed, zones: [ZONE] }, { mask: 'msk_window' });
  });
  it('by the loss of "before" settles the change', async () => {
    await beginsAnew(fixed, fixed, {}, OTHER, async () => {
      await bench.blobs.sweep('frames', Date.now() + 1_000);
    });
  });
  it('by other privacy zones in mode memory settles the change', async () => {
    await beginsAnew(memory, { ...memory, zones: [ZONE] }, { mask: 'msk_window' });
  });
  it('by another mode settles the change, and the anchor of the earlier mode is not "before"', async () => {
    await beginsAnew(memory, fixed);
    await bench.redis.flushall();
    await beginsAnew(fixed, memory);
    await bench.redis.flushall();
    await beginsAnew(fixed, { before: 'previous', alerts });
  });
  it('by another reference, which shows the change, settles it', async () => {
    const camera = await setUpCamera(bench, 'gate', fixed);
    const [, car] = await run(camera, [
      [EMPTY, 0],
      [WITH_CAR, 1],
    ]);
    const reference = (await bench.results.get(car?.id ?? ''))?.frames.after ?? null;
    await bench.redis.flushall();
    await beginsAnew(fixed, fixed, { reference }, WITH_CAR);
  });
});
