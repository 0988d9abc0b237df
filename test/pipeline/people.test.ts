/** People in the regions of a pair, with a detector whose boxes are given. */
import type { Box, RgbImage } from '../../src/base/images.js';
import type { InferencePool } from '../../src/inference/pool.js';
import type { Bundle } from '../../src/model/manifest.js';
import type { MapRegion } from '../../src/model/regions.js';
import { detectPeople, examinePeople } from '../../src/pipeline/people.js';
import { judgeOf } from './judges.js';

const SIDE = 100;
const RULE = { size: 64, margin: 1, min_side: 0, least: 0.3 };
const manifest = { name: 'tiny', people: RULE, glance: { size: 16, regions: 3, margin: 1, min_side: 0 } };
const bundle = { manifest } as unknown as Bundle;
/** A square, so that its crop of margin 1 is the region itself. */
const region: MapRegion = {
  ...{ side: 'after', area: 0.1, score: 0.9 },
  box: { x: 0.2, y: 0.2, width: 0.4, height: 0.4 },
};
const picture = (light = 0): RgbImage => ({
  ...{ width: SIDE, height: SIDE },
  data: new Uint8Array(3 * SIDE * SIDE).map((_, i) => {
    const [x, y] = [Math.floor(i / 3) % SIDE, Math.floor(i / 3 / SIDE)];
    return x >= 20 && x < 60 && y >= 20 && y < 60 ? light : 0;
  }),
});
const frames = { before: picture(), after: picture(200) };
const NAMED = { person: 0, vehicle: 0, nothing: 0, decodedPerson: 0 };
const seen = (x: number, width: number): { box: Box; score: number } => ({
  ...{ box: { x, y: 0.2, width, height: 0.4 }, score: 0.9 },
});
const poolOf = (run: () => Promise<unknown>) => ({ run }) as unknown as InferencePool;

it('are detected around each region, in fractions of the frame', async () => {
  const pool = poolOf(async () => [[{ box: { x: 0, y: 0, width: 0.5, height: 1 }, score: 0.9 }]]);
  const { boxes, failure } = await detectPeople(pool, bundle, frames, [region]);
  expect(boxes.get(region)).toEqual([{ box: { x: 0.2, y: 0.2, width: 0.2, height: 0.4 }, score: 0.9 }]);
  expect(failure).toBeNull();
});

it('are unknown of a region on which the detector fails, and of a bundle without one', async () => {
  const pool = poolOf(async () => Promise.reject(new Error('no memory')));
  expect(await detectPeople(pool, bundle, frames, [region])).toEqual({ boxes: new Map(), failure: 'no memory' });
  const without = { manifest: { ...manifest, people: undefined } } as unknown as Bundle;
  expect(await detectPeople(pool, without, frames, [region])).toEqual({ boxes: new Map(), failure: null });
});

it('have little of their own where a better box shows the same pixels', () => {
  const judge = judgeOf({ person: { separate: 10, offset: -5 } });
  const boxes = [seen(0.2, 0.2), seen(0.21, 0.19), seen(0.4, 0.2)];
  const examined = examinePeople(region.box, boxes, frames, NAMED, judge);
  expect(examined.map(({ row }) => row.separate)).toEqual([1, expect.closeTo(0, 1), expect.closeTo(1, 1)]);
  expect(examined.map(({ probability }) => probability > 0.5)).toEqual([true, false, true]);
});

it('are none outside the region, or where nothing differs', () => {
  const judge = judgeOf({ person: { separate: 10, offset: -5 } });
  expect(examinePeople(region.box, [seen(0.7, 0.2)], frames, NAMED, judge)).toEqual([]);
  const still = { before: picture(), after: picture() };
  expect(examinePeople(region.box, [seen(0.2, 0.2)], still, NAMED, judge)[0]?.probability).toBeLessThan(0.1);
});

it('are judged by what the namer says, too', () => {
  const judge = judgeOf({ person: { vehicle: -10, offset: 2 } });
  const [one] = examinePeople(region.box, [seen(0.2, 0.2)], frames, { ...NAMED, vehicle: 0.9 }, judge);
  expect(one?.probability).toBeLessThan(0.5);
});
