/** Orders that set or reset a camera's baseline, as the turn of the next frame carries them out. */
import { describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { storeFrame } from '../../src/frames/keep.js';
import { createCameraRetention } from '../../src/workers/camera-retention.js';
import { at, beforeAt, codes, EMPTY, runsOn, WITH_CAR, WITH_DOG } from '../helpers/camera-runs.js';
import { HEIGHT, picture, setUpCamera, WIDTH } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const run = runsOn(() => bench);

const ALERTS = { callback_url: 'http://receiver.example/', cooldown_s: 0 };
const GREY = picture({ background: [120, 120, 120] });

/** Orders the picture as the baseline. @returns its hash */
async function set(camera: StoredCamera, bytes: Promise<Buffer>, light: 'day' | 'infrared' = 'day') {
  const { ref } = await storeFrame(bench.blobs, { bytes: await bytes, contentType: 'image/png' });
  const [width, height] = [WIDTH, HEIGHT];
  const event = { type: 'baseline.set', frame: ref, size: { width, height }, width, height, light } as const;
  expect(await bench.cameras.orderBaseline(camera.id, event)).toBe(true);
  return ref.sha256;
}
const reset = (camera: StoredCamera) => bench.cameras.orderBaseline(camera.id, { type: 'baseline.reset' });
const state = () => bench.cameras.state('gate');
const changes = async () => (await bench.changes.list({ camera: 'gate', limit: 10 })).items;
const alerts = async () => (await bench.redis.keys('sd:alr:*')).length;
/** The camera with a car as an open change. */
async function withOpenChange(before: string) {
  const camera = await setUpCamera(bench, 'gate', { before, alerts: ALERTS });
  await run(camera, [
    [EMPTY, 0],
    [WITH_CAR, 1],
    [WITH_CAR, 2],
  ]);
  expect(await alerts()).toBe(1);
  return camera;
}

describe.each(['previous', 'reference', 'memory'])('with before: %s, the baseline', (before) => {
  it('that is reset begins with the next frame, and open changes settle without an alert', async () => {
    const camera = await withOpenChange(before);
    await reset(camera);
    const [next, after] = await run(camera, [
      [WITH_CAR, 3],
      [WITH_CAR, 4],
    ]);
    expect(codes(next)).toEqual(['baseline_reset', 'first_frame']);
    expect([next?.verdict, after?.verdict]).toEqual(['none', 'none']);
    expect(codes(after)).toEqual([]);
    const settled_at = new Date(at(before === 'previous' ? 2 : 3)).toISOString();
    expect(await changes()).toMatchObject([{ settled_at, reverted_at: null }]);
    expect(await alerts()).toBe(1);
    expect(await bench.changes.cameraEvents('gate')).toEqual([]);
  });

  it('that is set from a picture is compared with the next frame, and open changes settle', async () => {
    const camera = await withOpenChange(before);
    const sha256 = await set(camera, WITH_DOG);
    const [same, differs] = await run(camera, [
      [WITH_DOG, 3],
      [WITH_CAR, 4],
    ]);
    expect(codes(same)).toEqual(['baseline_set']);
    expect([same?.verdict, differs?.verdict]).toEqual(['none', 'change']);
    expect((await bench.results.get(same?.id ?? ''))?.frames.before?.sha256).toBe(sha256);
    expect(await changes()).toMatchObject([{ reverted_at: null, settled_at: expect.any(String) }]);
    expect(await alerts()).toBe(1);
  });

  it('that is set before the first frame is what it is compared with', async () => {
    const camera = await setUpCamera(bench, 'gate', { before });
    await set(camera, EMPTY);
    const [first] = await run(camera, [[WITH_CAR, 0]]);
    expect(first).toMatchObject({ verdict: 'change' });
    expect(codes(first)).toEqual(['baseline_set']);
  });

  it('that is set after the mode was changed is not dropped with the earlier one', async () => {
    await withOpenChange(before === 'memory' ? 'reference' : 'memory');
    const camera = await setUpCamera(bench, 'gate', { before, alerts: ALERTS });
    const sha256 = await set(camera, WITH_DOG);
    const [next] = await run(camera, [[WITH_DOG, 3]]);
    expect((await bench.results.get(next?.id ?? ''))?.frames.before?.sha256).toBe(sha256);
    expect(await state()).toMatchObject({ tracker: { tracks: [] } });
  });
});

describe('the background model', () => {
  it('keeps the backgrounds of other lights if one is set, and none if it is reset', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory' });
    await run(camera, [
      [EMPTY, 0],
      [GREY, 1],
    ]);
    const [day, infrared] = [await set(camera, WITH_CAR, 'day'), (await state())?.backgrounds.infrared];
    const [next] = await run(camera, [[WITH_CAR, 2]]);
    expect(beforeAt(next as NonNullable<typeof next>)).toBe(new Date(at(2)).toISOString());
    expect((await state())?.backgrounds).toMatchObject({ day: { frame: { sha256: day } }, infrared });
    await reset(camera);
    await run(camera, [[EMPTY, 3]]);
    expect(Object.keys((await state())?.backgrounds ?? {})).toEqual(['day']);
  });

  it('takes several orders in their sequence, with one frame', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory' });
    await run(camera, [[EMPTY, 0]]);
    await reset(camera);
    const [day, infrared] = [await set(camera, WITH_CAR, 'day'), await set(camera, GREY, 'infrared')];
    const [next] = await run(camera, [[WITH_CAR, 1]]);
    expect(codes(next)).toEqual(['baseline_reset', 'baseline_set', 'baseline_set']);
    expect((await state())?.backgrounds).toMatchObject({
      day: { frame: { sha256: day } },
      infrared: { frame: { sha256: infrared } },
    });
  });
});

describe('an order', () => {
  it('protects its picture from the retention of frames until it is carried out', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory' });
    const sha256 = await set(camera, EMPTY);
    const inUse = await createCameraRetention({ ...bench, clock: Date.now }).framesInUse();
    expect([...inUse]).toEqual([frameKey(sha256)]);
  });

  it('for a camera that has been erased leaves nothing', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory' });
    await bench.cameras.erase('gate');
    expect(await reset(camera)).toBe(false);
    expect(await bench.redis.keys('*gate*')).toEqual([]);
  });
});

it('a change that a person calls normal becomes part of the background at its place, without an alert', async () => {
  const camera = await withOpenChange('memory');
  const [change] = await changes();
  await bench.changes.makeNormal({ id: change?.id ?? '', camera: camera.id });
  const [settling, then, gone] = await run(camera, [
    [WITH_CAR, 3],
    [WITH_CAR, 4],
    [EMPTY, 5],
  ]);
  expect([settling, then, gone].map((one) => one?.verdict)).toEqual(['change', 'none', 'change']);
  expect(await changes()).toMatchObject([{ settled_at: new Date(at(3)).toISOString(), reverted_at: null }]);
  expect(await alerts()).toBe(1);
});
