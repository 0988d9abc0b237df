import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Comparison } from '../../src/schemas/comparison.js';
import { createDayStore } from '../../src/stores/changes/days.js';
import type { WorkedFrame } from '../../src/workers/camera-turn.js';
import { at, beforeAt, codes, EMPTY, runsOn, T, WITH_CAR } from '../helpers/camera-runs.js';
import { picture, pixelPipeline, readComparison, sendFrame, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());
const run = runsOn(() => bench);

describe("a camera's frames", () => {
  it('begin with one that has nothing to compare with, and a note', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const [first] = await run(camera, [[EMPTY, 0]]);
    expect(first).toMatchObject({
      status: 'finished',
      verdict: 'none',
      model: null,
      caption: 'There is nothing to compare this frame with yet.',
      camera_frame: { captured_at: '2026-06-01T12:00:00.000Z', before: null },
    });
    expect(codes(first)).toEqual(['first_frame']);
    expect((await bench.results.get(first?.id ?? ''))?.frames).toMatchObject({ before: null });
  });

  it('are processed in the order of their capture times, in whatever order they arrive', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'previous' });
    const [late, first, middle] = await run(camera, [
      [EMPTY, 20],
      [EMPTY, 0],
      [EMPTY, 10],
    ]);
    expect(codes(first)).toEqual(['first_frame']);
    expect(beforeAt(middle as Comparison)).toBe('2026-06-01T12:00:00.000Z');
    expect(beforeAt(late as Comparison)).toBe('2026-06-01T12:00:10.000Z');
  });

  it('give the numbers of alerts that were sent and suppressed, for the metrics', async () => {
    const settings = { alerts: { callback_url: 'https://user.example/hook', confirm_frames: 1 } };
    const camera = await setUpCamera(bench, 'gate', { before: 'reference', ...settings });
    const processor = turnProcessor(bench);
    const counts: unknown[] = [];
    for (const [i, frame] of [EMPTY, WITH_CAR, EMPTY, WITH_CAR].entries()) {
      await sendFrame(bench, camera, await frame, at(10 * i));
      const onFrame = ({ alerts }: WorkedFrame) => counts.push(alerts);
      await processor.process({ v: 2, camera: 'gate' }, { job: 'job', onFrame });
    }
    expect(counts).toEqual([
      { sent: 0, suppressed: 0 },
      { sent: 1, suppressed: 0 },
      { sent: 1, suppressed: 0 },
      { sent: 0, suppressed: 1 },
    ]);
  });

  it('that wait are processed by one job, until its time is over and another job follows', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const jobs: string[] = [];
    let now = Date.now();
    const processor = turnProcessor(bench, {
      queue: { addTurn: async (id) => void jobs.push(id) },
      // 40 ms pass with each frame
      pipeline: pixelPipeline({
        onCompare: () => {
          now += 40;
        },
      }).pipeline,
      clock: () => now,
    });
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await sendFrame(bench, camera, await EMPTY, at(i)));
    const done = async () => {
      const comparisons = await Promise.all(ids.map((id) => readComparison(bench, id)));
      return comparisons.filter(({ status }) => status === 'finished').length;
    };
    const worked: WorkedFrame[] = [];
    const process = (job: string) =>
      processor.process({ v: 2, camera: 'gate' }, { job, onFrame: (frame) => worked.push(frame) });
    // The first frame has nothing to be compared with and takes no time; three more take longer than 100 ms.
    expect(await process('1')).toEqual({ kind: 'worked', more: true });
    expect(jobs).toEqual(['gate']);
    expect(await done()).toBe(4);
    expect(await process('2')).toEqual({ kind: 'worked', more: false });
    expect(jobs).toEqual(['gate']);
    expect(await done()).toBe(6);
    expect(worked.map(({ camera, outcome }) => `${camera} ${outcome.kind}`)).toEqual(Array(6).fill('gate finished'));
    expect(await process('3')).toEqual({ kind: 'idle' });
  });

  it('are running while they are examined; a quiet one ends without', async () => {
    const camera = await setUpCamera(bench, 'gate', { examine_every_s: 60 });
    const [, quiet, car] = await run(camera, [
      [EMPTY, 0],
      [EMPTY, 1],
      [WITH_CAR, 2],
    ]);
    const events = (await bench.redis.xrange('sd:events', '-', '+')).map(([, fields]) => JSON.parse(fields[1] ?? '{}'));
    const typesOf = (id?: string) => events.filter(({ subject }) => subject.id === id).map(({ type }) => type);
    expect(quiet?.camera_frame?.nothing_new_since).toBeDefined();
    expect(typesOf(quiet?.id)).toEqual(['comparison.queued', 'comparison.finished']);
    expect(typesOf(car?.id)).toEqual(['comparison.queued', 'comparison.running', 'comparison.finished']);
  });

  it('that arrive after a later one was processed are refused, and change nothing', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await run(camera, [
      [EMPTY, 0],
      [EMPTY, 10],
    ]);
    const before = await bench.cameras.state('gate');
    const [late] = await run(camera, [[WITH_CAR, 5]]);
    expect(late).toMatchObject({ status: 'failed', error: { status: 409, field: 'captured_at' } });
    expect(late?.error?.type).toMatch(/frame-out-of-order$/);
    expect(await bench.cameras.state('gate')).toEqual(before);
  });

  it('that arrive twice have the same answer twice and count once', async () => {
    const camera = await setUpCamera(bench, 'gate', { alerts: { confirm_frames: 2 } });
    const [, car, again] = await run(camera, [
      [EMPTY, 0],
      [WITH_CAR, 1],
      [WITH_CAR, 1],
    ]);
    expect(again).toMatchObject({
      status: 'finished',
      verdict: 'change',
      caption: car?.caption,
      regions: car?.regions,
    });
    expect(codes(again)).toEqual(['duplicate']);
    expect(again?.camera_frame?.notes[0]?.detail).toContain(car?.id);
    expect(await bench.cameras.state('gate')).toMatchObject({ frames: 2 });
    // One observation, although it arrived twice: not confirmed.
    expect((await bench.changes.list({ camera: 'gate', limit: 10 })).items).toEqual([]);
  });

  it('of another size and the same shape are compared, with a note', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const [, smaller] = await run(camera, [
      [EMPTY, 0],
      [picture({ width: 48, height: 32 }), 1],
    ]);
    expect(codes(smaller)).toEqual(['size_changed']);
    expect(smaller?.camera_frame?.before).not.toBeNull();
  });

  it('after a gap are compared, with a note of the gap', async () => {
    const camera = await setUpCamera(bench, 'gate', { gap_s: 60 });
    const [, , after] = await run(camera, [
      [EMPTY, 0],
      [EMPTY, 60],
      [WITH_CAR, 200],
    ]);
    expect(after).toMatchObject({ verdict: 'change' });
    expect(after?.camera_frame?.notes).toEqual([{ code: 'gap', detail: 'no frame came for 140 s before this one' }]);
    const spans = await createDayStore(bench.redis).unseenOf('gate', { from: T, until: at(3_600) });
    expect(spans.map(({ reason, from, until }) => [reason, (until - from) / 1_000])).toEqual([['gap', 140]]);
    expect((await bench.cameras.state('gate'))?.recordedFrom).toBe(T);
  });

  it('whose "before" is no longer stored reset the baseline, with a note', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await run(camera, [[EMPTY, 0]]);
    await bench.blobs.sweep('frames', Date.now() + 1_000);
    const [next, after] = await run(camera, [
      [WITH_CAR, 1],
      [WITH_CAR, 2],
    ]);
    expect(codes(next)).toEqual(['before_lost']);
    expect(codes(after)).toEqual([]);
  });

  it('past their deadline are dropped before the comparison, and the next one is processed', async () => {
    const { pipeline, calls } = pixelPipeline();
    const camera = await setUpCamera(bench, 'gate');
    const late = await sendFrame(bench, camera, await EMPTY, at(0), { deadline: Date.now() - 1 });
    const [first] = await run(camera, [[EMPTY, 1]], turnProcessor(bench, { pipeline }));
    expect((await readComparison(bench, late)).error?.type).toMatch(/deadline-exceeded$/);
    expect(codes(first)).toEqual(['first_frame']);
    expect(calls).toEqual([]);
  });

  it('that are no images fail and leave the camera unchanged', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const [, broken, next] = await run(camera, [
      [EMPTY, 0],
      [EMPTY.then((bytes) => bytes.subarray(0, 60)), 1],
      [EMPTY, 2],
    ]);
    expect(broken).toMatchObject({ status: 'failed', error: { status: 422 } });
    expect(beforeAt(next as Comparison)).toBe('2026-06-01T12:00:00.000Z');
  });
});

it('the share of the things said that must be true is that of the camera', async () => {
  const { pipeline, calls } = pixelPipeline();
  const frames = [
    [EMPTY, 0],
    [WITH_CAR, 10],
  ] as const;
  await run(await setUpCamera(bench, 'gate', { truth: 0.75 }), frames, turnProcessor(bench, { pipeline }));
  await run(await setUpCamera(bench, 'yard', {}), frames, turnProcessor(bench, { pipeline }));
  expect(calls.map(({ truth }) => truth)).toEqual([0.75, null]);
});

describe('the false-alarm budget', () => {
  it('becomes a threshold once the rate of frames is known', async () => {
    const { pipeline, calls } = pixelPipeline();
    // a frame every 10 s: 8640 a day; 86.4 false alarms per day are one in a hundred frames
    const camera = await setUpCamera(bench, 'gate', { false_alarms_per_day: 86.4 });
    await run(
      camera,
      [
        [EMPTY, 0],
        [EMPTY, 10],
        [WITH_CAR, 20],
      ],
      turnProcessor(bench, { pipeline }),
    );
    const thresholds = calls.map(({ threshold }) => threshold ?? null);
    expect(thresholds[0]).toBeCloseTo(0.6, 1);
    expect(thresholds[0]).toBeLessThan(0.9);
    const state = await bench.cameras.state('gate');
    expect(state?.budgetThreshold?.false_alarms_per_day).toBeCloseTo(86.4, 3);
    expect(state?.counts).toMatchObject({ frames: 3, risen: 0 });
  });
});
