/** The background model and tracked changes: a thing becomes part of a background only when its change settles. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { TurnDependencies } from '../../src/workers/camera-turn.js';
import { picture, pixelPipeline, RED, sendFrame, setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

const T = Date.parse('2026-06-01T12:00:00Z');
const SETTINGS = { before: 'memory', alerts: { callback_url: 'http://receiver.example/', cooldown_s: 0 } };
const PLACE: [number, number, number, number] = [60, 30, 12, 10];
const EMPTY = picture();
const CAR = picture({ things: [[...PLACE, RED]] });
const RAIN_ON_CAR = picture({ background: [92, 120, 150], things: [[...PLACE, RED]] });
const IR: [number, number, number] = [120, 120, 120];
const IR_EMPTY = picture({ background: IR });
const IR_BOTH = picture({
  background: IR,
  things: [
    [...PLACE, [220, 220, 220]],
    [10, 5, 12, 10, [220, 220, 220]],
  ],
});
const IR_CAR = picture({ background: IR, things: [[...PLACE, [220, 220, 220]]] });

/** A pipeline that finds only the nuisance, and no region, in comparisons of these frames with others. */
async function hidingPipeline(name: string, frames: readonly Promise<Buffer>[]): Promise<TurnDependencies['pipeline']> {
  const { pipeline } = pixelPipeline();
  const shas = (await Promise.all(frames)).map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  return {
    ...pipeline,
    async compare(input) {
      const compared = await pipeline.compare(input);
      if (!shas.includes(input.afterKey ?? '') || shas.includes(input.beforeKey ?? '')) return compared;
      const finding = {
        verdict: 'nuisance' as const,
        kind: 'none' as const,
        nuisance: [{ name, score: 0.9 }],
      };
      return { ...compared, finding: { ...compared.finding, ...finding, regions: [] } };
    },
  };
}

async function watch(pipeline: TurnDependencies['pipeline'], frames: readonly (readonly [Promise<Buffer>, number])[]) {
  const camera = await setUpCamera(bench, 'gate', SETTINGS);
  for (const [frame, seconds] of frames) await sendFrame(bench, camera, await frame, T + seconds * 1000);
  await workOff('gate', turnProcessor(bench, { pipeline }));
  const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
  const alerts = await bench.redis.keys('sd:alr:*');
  return { items, alerts: alerts.length, state: await bench.cameras.state('gate') };
}

describe('an open change', () => {
  const OPENED = [
    [EMPTY, 0],
    [CAR, 10],
    [CAR, 20],
  ] as const;

  it('does not become part of the background while rain hides it', async () => {
    const rain = Array.from({ length: 20 }, (_, i) => [RAIN_ON_CAR, 400 + 300 * i] as const);
    const clear = [0, 10, 20].map((seconds) => [CAR, 7_000 + seconds] as const);
    const pipeline = await hidingPipeline('weather', [RAIN_ON_CAR]);
    const { items, alerts, state } = await watch(pipeline, [...OPENED, ...rain, ...clear]);
    expect(items).toMatchObject([{ status: 'persisting', last_seen: '2026-06-01T13:57:00.000Z' }]);
    expect(alerts).toBe(1);
    // The rest of the background has been updated.
    expect(state?.backgrounds.day?.learnedAt).toBeGreaterThan(T + 6_000_000);
  });

  it('settles if the background of another light begins with it, and gives no alert in either light', async () => {
    const night = [30, 40, 50, 60].map((seconds) => [IR_CAR, seconds] as const);
    const day = [70, 80, 90].map((seconds) => [CAR, seconds] as const);
    const pipeline = await hidingPipeline('ir_switch', [IR_CAR]);
    const { items, alerts, state } = await watch(pipeline, [...OPENED, ...night, ...day]);
    expect(items).toMatchObject([{ status: 'opened', settled_at: '2026-06-01T12:00:50.000Z' }]);
    expect(alerts).toBe(1);
    expect(Object.keys(state?.backgrounds ?? {}).sort()).toEqual(['day', 'infrared']);
  });

  it('does not prevent new changes in the other light', async () => {
    const night = [30, 40, 50].map((seconds) => [IR_CAR, seconds] as const);
    const another = [60, 70].map((seconds) => [IR_BOTH, seconds] as const);
    const pipeline = await hidingPipeline('ir_switch', [IR_CAR]);
    const { items, alerts } = await watch(pipeline, [...OPENED, ...night, ...another]);
    expect(items).toMatchObject([
      { status: 'opened', first_seen: '2026-06-01T12:01:00.000Z', settled_at: null },
      { status: 'opened', settled_at: '2026-06-01T12:00:50.000Z' },
    ]);
    expect(alerts).toBe(2);
  });

  it('that has reverted lets the background of the other light begin', async () => {
    const gone = [30, 40].map((seconds) => [EMPTY, seconds] as const);
    const night = [50, 60].map((seconds) => [IR_EMPTY, seconds] as const);
    const pipeline = await hidingPipeline('ir_switch', [IR_CAR, IR_EMPTY]);
    const { items, state } = await watch(pipeline, [...OPENED, ...gone, ...night]);
    expect(items).toMatchObject([{ status: 'reverted' }]);
    expect(Object.keys(state?.backgrounds ?? {}).sort()).toEqual(['day', 'infrared']);
  });
});
