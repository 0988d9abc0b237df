/** Rounds: the comparison of two times of a day, from the stored frames of a camera to its result. */
import { describe, expect, it } from '@jest/globals';
import type { Comparison } from '../../src/schemas/comparison.js';
import { createLifeCycle } from '../../src/workers/life-cycle.js';
import { createRounds } from '../../src/workers/rounds/make-rounds.js';
import { picture, pixelPipeline, RED, sendFrame, setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { comparisonProcessor, logger, useBench } from '../helpers/workers.js';

/** A Tuesday that Redis does not take for the past. */
const MORNING = Date.UTC(2099, 5, 2, 7);
const EVENING = Date.UTC(2099, 5, 1, 16, 50);
const MINUTE = 60_000;
const ROUND = { name: 'morning', at: '07:00', with: '16:50 yesterday' };
const VAN = [60, 30, 12, 10, RED] as const;
const bench = useBench();

/** @param frames capture time and picture */
async function send(camera: Awaited<ReturnType<typeof setUpCamera>>, frames: [number, Promise<Buffer>][]) {
  const ids: string[] = [];
  for (const [at, frame] of frames) ids.push(await sendFrame(bench, camera, await frame, at, { acceptedAt: at }));
  await workOff(camera.id, turnProcessor(bench));
  return ids;
}

/** Makes the rounds that are due at a time, and compares them. @returns their comparisons */
async function rounds(now: number): Promise<Comparison[]> {
  const queued: string[] = [];
  const ended: string[] = [];
  const enqueueDelivery = {
    ofComparison: async ({ comparison }: { comparison: Comparison }) => void ended.push(comparison.id),
    ofAlert: async () => {},
  };
  const lifeCycle = createLifeCycle({
    ...{ ...bench, clock: () => now, logger, enqueueDelivery },
  });
  const make = createRounds({
    ...{ ...bench, lifeCycle, clock: () => now, logger, decodeLimits: { pixelLimit: 1_000_000 } },
    queue: { addComparison: async ({ comparisonId }) => void queued.push(comparisonId) },
  });
  await make();
  const processor = comparisonProcessor(bench, {
    ...{ pipeline: pixelPipeline().pipeline, cameras: bench.cameras, enqueueDelivery, clock: () => now },
    fetchFrame: async (ref) => {
      const key = 'sha256' in ref ? ref.sha256 : '';
      return { bytes: (await bench.blobs.get(`frames/${key.slice(0, 2)}/${key}`)) as Uint8Array, ref: ref as never };
    },
  });
  for (const comparisonId of queued) {
    await processor.process(
      { v: 2, comparisonId, traceId: '0'.repeat(32) },
      { lastAttempt: true, signal: new AbortController().signal },
    );
  }
  return Promise.all(ended.map(async (id) => (await bench.results.get(id))?.comparison as Comparison));
}
const settings = { rounds: [ROUND], alerts: { callback_url: 'https://receiver.example/' } };
const detailOf = ([one]: Comparison[]) => one?.error?.detail;

describe('a round', () => {
  it('compares the usable pictures nearest to both times, once, and names them', async () => {
    const camera = await setUpCamera(bench, 'gate', settings);
    await send(camera, [
      [EVENING - MINUTE, picture({ grain: true })],
      [EVENING + 20 * MINUTE, picture({ grain: true, things: [VAN] })],
      [MORNING - MINUTE, picture({ grain: true, things: [VAN] })],
      [MORNING + 1_000, picture({ background: [2, 2, 2] })],
    ]);
    expect(await rounds(MORNING + MINUTE)).toEqual([]);
    const [found, ...others] = await rounds(MORNING + 4 * MINUTE);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      ...{ camera: 'gate', status: 'finished', verdict: 'change', caption: 'something appeared' },
      metadata: {
        round: {
          ...ROUND,
          captured_at: {
            before: new Date(EVENING - MINUTE).toISOString(),
            after: new Date(MORNING - MINUTE).toISOString(),
          },
        },
      },
    });
    expect((await bench.results.get(found?.id ?? ''))?.request.callbackUrl).toBe('https://receiver.example/');
    expect(await rounds(MORNING + 5 * MINUTE)).toEqual([]);
  });

  it('counts what lies in the zones of its camera alone', async () => {
    const polygon = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ];
    const ignored = await setUpCamera(bench, 'gate', { ...settings, zones: [{ id: 'all', type: 'ignore', polygon }] });
    await send(ignored, [
      [EVENING, picture({ grain: true })],
      [MORNING, picture({ grain: true, things: [VAN] })],
    ]);
    expect((await rounds(MORNING + 4 * MINUTE)).map(({ verdict, regions }) => [verdict, regions])).toEqual([
      ['none', []],
    ]);
  });

  it('waits for an hour for a picture that is farther away, then names the time without one', async () => {
    const camera = await setUpCamera(bench, 'gate', settings);
    await send(camera, [[EVENING + 30 * MINUTE, picture({ grain: true })]]);
    expect(await rounds(MORNING + 10 * MINUTE)).toEqual([]);
    const failed = await rounds(MORNING + 62 * MINUTE);
    expect(failed.map(({ status }) => status)).toEqual(['failed']);
    expect(detailOf(failed)).toBe('round "morning": no picture within 60 min of 2099-06-02T07:00:00.000Z (UTC)');
    expect(await rounds(MORNING + 63 * MINUTE)).toEqual([]);
  });

  it('says what there was if no picture is of use', async () => {
    const camera = await setUpCamera(bench, 'gate', settings);
    await send(camera, [
      [EVENING, picture({ grain: true })],
      [MORNING, picture({ background: [2, 2, 2] })],
      [MORNING + 1_000, picture({ background: [3, 2, 2] })],
    ]);
    expect(detailOf(await rounds(MORNING + 62 * MINUTE))).toBe(
      'round "morning": 2 pictures, none of use (2 too dark) within 60 min of 2099-06-02T07:00:00.000Z (UTC)',
    );
  });

  it('is made up for after the workers were away, but not for longer than half a day', async () => {
    const camera = await setUpCamera(bench, 'gate', settings);
    await send(camera, [
      [EVENING, picture({ grain: true })],
      [MORNING, picture({ grain: true })],
    ]);
    expect(await rounds(MORNING + 13 * 60 * MINUTE)).toEqual([]);
    expect(await rounds(MORNING + 11 * 60 * MINUTE)).toMatchObject([{ status: 'finished', verdict: 'none' }]);
  });
});
