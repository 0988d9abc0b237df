import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../src/errors.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { frameKey } from '../../src/stores/blobs.js';
import type { StoredCamera } from '../../src/stores/cameras.js';
import {
  GREEN,
  picture,
  pixelPipeline,
  RED,
  readComparison,
  sendFrame,
  setUpCamera,
  turnProcessor,
  workOff,
} from '../helpers/cameras.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());

const T = Date.parse('2026-06-01T12:00:00Z');
const at = (seconds: number) => T + seconds * 1000;
const EMPTY = picture();
const WITH_CAR = picture({ things: [[60, 30, 12, 10, RED]] });
const WITH_DOG = picture({ things: [[10, 40, 8, 8, GREEN]] });

/** Sends frames (in the order given), works them off, and reads their comparisons. */
async function run(
  camera: StoredCamera,
  frames: readonly (readonly [Promise<Buffer>, number])[],
  processor = turnProcessor(bench),
): Promise<Comparison[]> {
  const ids: string[] = [];
  for (const [frame, seconds] of frames) ids.push(await sendFrame(bench, camera, await frame, at(seconds)));
  await workOff(camera.id, processor);
  return Promise.all(ids.map((id) => readComparison(bench, id)));
}
const codes = ({ camera_frame }: Comparison | undefined = {} as Comparison) =>
  camera_frame?.notes.map(({ code }) => code);
const beforeAt = ({ camera_frame }: Comparison) => camera_frame?.before?.captured_at ?? null;

describe("a camera's frames", () => {
  it('begin with one that has nothing before it, and says so', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const [first] = await run(camera, [[EMPTY, 0]]);
    expect(first).toMatchObject({
      status: 'finished',
      verdict: 'none',
      model: null,
      caption: 'there is nothing to compare this frame with yet',
      camera_frame: { captured_at: '2026-06-01T12:00:00.000Z', before: null },
    });
    expect(codes(first)).toEqual(['first_frame']);
    expect((await bench.results.get(first?.id ?? ''))?.frames).toMatchObject({ before: null });
  });

  it('are worked on in the order of their captured times, however they came', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const [late, first, middle] = await run(camera, [
      [EMPTY, 20],
      [EMPTY, 0],
      [EMPTY, 10],
    ]);
    expect(codes(first)).toEqual(['first_frame']);
    expect(beforeAt(middle as Comparison)).toBe('2026-06-01T12:00:00.000Z');
    expect(beforeAt(late as Comparison)).toBe('2026-06-01T12:00:10.000Z');
  });

  it('that come after a later one was worked on are refused, and change nothing', async () => {
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

  it('that came twice are answered twice and count once', async () => {
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
    // one sighting, though it was told twice: not confirmed
    expect((await bench.changes.list({ camera: 'gate', limit: 10 })).items).toEqual([]);
  });

  it('of another shape begin anew and say so; of another size only say so', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const small = picture({ width: 48, height: 32 });
    const [, smaller, square, next] = await run(camera, [
      [EMPTY, 0],
      [small, 1],
      [picture({ width: 64, height: 64 }), 2],
      [picture({ width: 64, height: 64, things: [[5, 5, 20, 20, RED]] }), 3],
    ]);
    expect(codes(smaller)).toEqual(['size_changed']);
    expect(smaller?.camera_frame?.before).not.toBeNull();
    expect(codes(square)).toEqual(['size_changed']);
    expect(square).toMatchObject({ verdict: 'none', model: null, camera_frame: { before: null } });
    expect(next).toMatchObject({ verdict: 'change' });
    expect(codes(next)).toEqual([]);
  });

  it('after a gap are compared, and the gap is said', async () => {
    const camera = await setUpCamera(bench, 'gate', { gap_s: 60 });
    const [, , after] = await run(camera, [
      [EMPTY, 0],
      [EMPTY, 60],
      [WITH_CAR, 200],
    ]);
    expect(after).toMatchObject({ verdict: 'change' });
    expect(after?.camera_frame?.notes).toEqual([
      { code: 'gap', detail: 'no frame came for 140 s before this one' },
    ]);
  });

  it('whose "before" is no longer stored begin anew and say so', async () => {
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

  it('past their deadline are dropped before anything is compared, and the next goes on', async () => {
    const { pipeline, calls } = pixelPipeline();
    const camera = await setUpCamera(bench, 'gate');
    const late = await sendFrame(bench, camera, await EMPTY, at(0), { deadline: Date.now() - 1 });
    const [first] = await run(camera, [[EMPTY, 1]], turnProcessor(bench, { pipeline }));
    expect((await readComparison(bench, late)).error?.type).toMatch(/deadline-exceeded$/);
    expect(codes(first)).toEqual(['first_frame']);
    expect(calls).toEqual([]);
  });

  it('that are no pictures fail by themselves and leave the camera as it was', async () => {
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

describe('what "before" is', () => {
  it('previous: stays the same frame while a change awaits its confirmation, then follows', async () => {
    const camera = await setUpCamera(bench, 'gate', { alerts: { confirm_frames: 3 } });
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

  it('reference: always the one that was given', async () => {
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
    const shas = await Promise.all(
      all.map(async ({ id }) => (await bench.results.get(id))?.frames.before?.sha256),
    );
    expect(new Set(shas)).toEqual(new Set([stored?.frames.after?.sha256]));
  });

  it('reference: the first frame where none was given', async () => {
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

  it("reference: one of another shape is the owner's to replace, so the comparison fails and says why", async () => {
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

  it('memory: a parked car is a change until it is part of the place, and its leaving is one then', async () => {
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
    expect(all.map(({ verdict }) => verdict)).toEqual([
      'none',
      'none',
      'change',
      'change',
      'change',
      'none',
      'change',
    ]);
    expect(await bench.cameras.state('gate')).toMatchObject({ light: 'day' });
  });

  it('memory: each light has its own', async () => {
    const camera = await setUpCamera(bench, 'gate', { before: 'memory', gap_s: 10_000 });
    const night = picture({ background: [100, 100, 100] });
    const nightCar = picture({ background: [100, 100, 100], things: [[60, 30, 12, 10, [200, 200, 200]]] });
    const all = await run(camera, [
      [EMPTY, 0],
      // grey, and otherwise little different: not a change by itself
      [picture({ background: [120, 120, 120] }), 10],
      [night, 20],
      [EMPTY, 30],
      [nightCar, 40],
    ]);
    expect(codes(all[1])).toEqual(['other_light']);
    expect(codes(all[2])).toEqual([]);
    expect(all.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'none', 'none', 'change']);
    const state = await bench.cameras.state('gate');
    expect(Object.keys(state?.memory ?? {}).sort()).toEqual(['day', 'infrared']);
    expect(beforeAt(all[4] as Comparison)).toBe('2026-06-01T12:00:10.000Z');
  });
});

describe('where "before" begins anew while a change is open', () => {
  const alerts = { confirm_frames: 2, callback_url: 'http://receiver.example/' };
  /** Nothing of what was followed is seen in it, nor does it differ from itself. */
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

  /** Opens a change, begins anew with the next frame, and looks at what two more frames of the same make of it. */
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
    expect(await bench.cameras.state('gate')).toMatchObject({ alerts: { tracks: [] } });
  }
  const fixed = { before: 'reference', alerts };
  const memory = { before: 'memory', alerts };

  it('by other privacy zones, it settles, and no alert says that it has gone', async () => {
    await beginsAnew(fixed, { ...fixed, zones: [ZONE] }, { mask: 'msk_window' });
  });
  it('by frames of another shape, the same', async () => {
    await beginsAnew(fixed, fixed, {}, picture({ width: 64, height: 64 }));
  });
  it('by the loss of what it was compared with, the same', async () => {
    await beginsAnew(fixed, fixed, {}, OTHER, async () => {
      await bench.blobs.sweep('frames', Date.now() + 1_000);
    });
  });
  it('by other privacy zones of a memory, the same', async () => {
    await beginsAnew(memory, { ...memory, zones: [ZONE] }, { mask: 'msk_window' });
  });
  it('by another setting, the same, and a frame that an earlier setting has left is not "before"', async () => {
    await beginsAnew(memory, fixed);
    await bench.redis.flushall();
    await beginsAnew(fixed, memory);
    await bench.redis.flushall();
    await beginsAnew(fixed, { before: 'previous', alerts });
  });
  it('by another reference, which has it, the same', async () => {
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

describe('zones', () => {
  const left = [
    [0, 0],
    [0.4, 0],
    [0.4, 1],
    [0, 1],
  ];
  it('ignore: what lies in one does not count, is said, and makes no change', async () => {
    const zones = [{ id: 'street', type: 'ignore', polygon: left }];
    const camera = await setUpCamera(bench, 'gate', { zones, alerts: { confirm_frames: 1 } });
    const [, dog, , car] = await run(camera, [
      [EMPTY, 0],
      [WITH_DOG, 1],
      [EMPTY, 2],
      [WITH_CAR, 3],
    ]);
    expect(dog).toMatchObject({ verdict: 'none', regions: [], caption: 'nothing that counts has changed' });
    expect(codes(dog)).toEqual(['regions_left_out']);
    expect(car).toMatchObject({ verdict: 'change' });
    expect((await bench.changes.list({ camera: 'gate', limit: 10 })).items).toHaveLength(1);
  });

  it('include: names the zone and gives its severity', async () => {
    const zones = [{ id: 'yard', type: 'include', polygon: left, severity: 'high' }];
    const camera = await setUpCamera(bench, 'gate', { zones, alerts: { confirm_frames: 1 } });
    const [, dog, car] = await run(camera, [
      [EMPTY, 0],
      [WITH_DOG, 1],
      [
        picture({
          things: [
            [10, 40, 8, 8, GREEN],
            [60, 30, 12, 10, RED],
          ],
        }),
        2,
      ],
    ]);
    expect(dog).toMatchObject({ verdict: 'change', severity: 'high', regions: [{ id: 1, zone: 'yard' }] });
    expect(car).toMatchObject({ verdict: 'none' });
    const { items } = await bench.changes.list({ camera: 'gate', limit: 10 });
    expect(items).toMatchObject([{ zone: 'yard', severity: 'high' }]);
  });
});

describe('privacy zones', () => {
  const window = [
    [0.5, 0],
    [1, 0],
    [1, 0.5],
    [0.5, 0.5],
  ];
  const settings = {
    zones: [{ id: 'window', type: 'privacy', polygon: window }],
    alerts: { confirm_frames: 1 },
  };
  /** A dog in the yard, and somebody at the window. */
  const seen = (who: number) =>
    picture({
      things: [
        [10, 40, 8, 8, GREEN],
        [52, 4, 30, 20, [who, 255 - who, who]],
      ],
    });

  it('make the answer and the pictures the same byte for byte, whatever goes on behind them', async () => {
    const answers: unknown[] = [];
    for (const who of [30, 200]) {
      await bench.redis.flushall();
      const camera = await setUpCamera(bench, 'gate', settings, { mask: 'msk_window' });
      const { pipeline, calls } = pixelPipeline();
      const empty = picture({ things: [[52, 4, 30, 20, [255 - who, who, 9]]] });
      const comparisons = await run(
        camera,
        [
          [empty, 0],
          [seen(who), 1],
        ],
        turnProcessor(bench, { pipeline }),
      );
      const stored = await Promise.all(comparisons.map(({ id }) => bench.results.get(id)));
      const bytes = stored.map((one) => bench.blobs.get(frameKey(one?.frames.after?.sha256 ?? '')));
      answers.push({
        comparisons: comparisons.map(({ id, created_at, finished_at, timings_ms, ...rest }) => rest),
        frames: stored.map((one) => one?.frames),
        pictures: await Promise.all(bytes),
        lookedAt: calls.map(({ before, after }) => [before, after]),
      });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({
      comparisons: [{ verdict: 'none' }, { verdict: 'change', kind: 'appear' }],
    });
  });

  it('that are new are painted on what comes, and the frames from before are not compared with', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await run(camera, [[seen(30), 0]]);
    const masked = await setUpCamera(bench, 'gate', settings, { mask: 'msk_window' });
    const [anew, next] = await run(masked, [
      [seen(60), 1],
      [seen(90), 2],
    ]);
    expect(codes(anew)).toEqual(['mask_changed']);
    expect(next).toMatchObject({ verdict: 'none' });
    expect(codes(next)).toEqual([]);
    const frames = (await bench.results.get(anew?.id ?? ''))?.frames;
    expect(frames?.after).toMatchObject({ contentType: 'image/jpeg', mask: 'msk_window' });
  });

  it('hold for the memory too', async () => {
    const camera = await setUpCamera(bench, 'gate', { ...settings, before: 'memory' }, { mask: 'msk_a' });
    await run(camera, [
      [seen(30), 0],
      [seen(60), 10],
    ]);
    const moved = await setUpCamera(bench, 'gate', { ...settings, before: 'memory' }, { mask: 'msk_b' });
    const [anew] = await run(moved, [[seen(30), 20]]);
    expect(codes(anew)).toEqual(['mask_changed', 'first_frame']);
  });
});

describe('the dial', () => {
  it('becomes a threshold once the rate of frames is known', async () => {
    const { pipeline, calls } = pixelPipeline();
    // a frame every 10 s: 8640 a day; 86.4 false alarms a day are one in a hundred frames
    const camera = await setUpCamera(bench, 'gate', { alarms_per_day: 86.4 });
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
    expect((await bench.cameras.state('gate'))?.dial?.alarms_per_day).toBeCloseTo(86.4, 3);
  });
});
