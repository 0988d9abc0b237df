/** Crashes and retries of a turn: each step is saved completely or not at all. */

import { describe, expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import type { Turn } from '../../src/stores/cameras/turns.js';
import type { WorkedFrame } from '../../src/workers/camera-turn.js';

import {
  picture,
  pixelPipeline,
  RED,
  readComparison,
  sendFrame,
  setUpCamera,
  type TurnOptions,
  turnProcessor,
  workOff,
} from '../helpers/cameras.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

const T = Date.parse('2026-06-01T12:00:00Z');
const SETTINGS = {
  alerts: { confirm_frames: 2, callback_url: 'http://receiver.example/' },
  before: 'memory',
};
const EMPTY = picture();
const CAR = picture({ things: [[60, 30, 12, 10, RED]] });
const FRAMES = [EMPTY, EMPTY, CAR, CAR, CAR, EMPTY, EMPTY];

const sendAll = async (camera: StoredCamera): Promise<string[]> => {
  const ids: string[] = [];
  for (const [i, frame] of FRAMES.entries()) ids.push(await sendFrame(bench, camera, await frame, T + i * 1000));
  return ids;
};

/** The stored result of a run, without ids and times of our own clock, which differ between runs. */
async function endState(ids: readonly string[]) {
  const name = (id: string) => `frame ${ids.indexOf(id)}`;
  const text = JSON.stringify({
    state: await bench.cameras.state('gate'),
    comparisons: await Promise.all(
      ids.map(async (id) => {
        const { created_at, finished_at, timings_ms, ...rest } = await readComparison(bench, id);
        return rest;
      }),
    ),
    changes: (await bench.changes.list({ camera: 'gate', limit: 10 })).items,
    alerts: (await bench.redis.keys('sd:alr:*')).sort(),
    waiting: await bench.cameras.waitingFrames('gate'),
    events: (await bench.redis.xrange('sd:events', '-', '+'))
      .map(([, fields]) => JSON.parse(fields[1] ?? '{}'))
      .filter(({ type }) => type !== 'comparison.queued')
      .map(({ type, subject, kind }) => ({ type, subject, kind })),
  });
  return JSON.parse(text.replace(/cmp_[0-9a-z]{26}/g, name));
}

async function uninterrupted(settings: object) {
  const camera = await setUpCamera(bench, 'gate', settings);
  const ids = await sendAll(camera);
  await workOff('gate', turnProcessor(bench));
  const state = await endState(ids);
  await bench.redis.flushall();
  return state;
}

class Killed extends Error {}
/** Stores of a process that dies at its nth call: the call never returns, and nothing is cleaned up. */
function dyingAt(step: number) {
  let steps = 0;
  let die: (reason: Error) => void = () => {};
  const death = new Promise<never>((_resolve, reject) => {
    die = reject;
  });
  death.catch(() => {});
  const mortal = <T extends object>(store: T): T =>
    new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function' || name === 'operatingPoints') return member;
        return async (...args: unknown[]) => {
          if (steps++ >= step) {
            die(new Killed());
            return new Promise(() => {});
          }
          return member.apply(target, args);
        };
      },
    });
  const stores = {
    turns: mortal(bench.turns),
    results: mortal(bench.results),
    blobs: mortal(bench.blobs),
    changes: mortal(bench.changes),
    pipeline: mortal(pixelPipeline().pipeline),
  };
  return { stores, death, died: () => steps > step };
}

describe('a worker that is killed during a turn', () => {
  it.each([
    ['examined frames', 0],
    ['quiet and examined frames', 60],
  ])(
    'does not alter the result of %s, at every call',
    async (_name, examine_every_s) => {
      const settings = { ...SETTINGS, examine_every_s };
      const expected = await uninterrupted(settings);
      expect(expected.changes).toMatchObject([{ kind: 'appear', status: 'reverted' }]);
      expect(expected.alerts.length).toBeGreaterThan(0);
      expect(expected.waiting).toBe(0);
      expect(JSON.stringify(expected).includes('nothing_new_since')).toBe(examine_every_s > 0);
      let kills = 0;
      for (let step = 0; ; step++) {
        const camera = await setUpCamera(bench, 'gate', settings);
        const ids = await sendAll(camera);
        const { stores, death, died } = dyingAt(step);
        await Promise.race([workOff('gate', turnProcessor(bench, stores)), death]).catch((error) => {
          if (!(error instanceof Killed)) throw error;
        });
        if (!died()) break;
        kills++;
        // The queue gives the job to another worker, under the same id.
        await workOff('gate', turnProcessor(bench));
        expect(await endState(ids)).toEqual(expected);
        await bench.redis.flushall();
      }
      // The test is meaningful only with more than two kills per frame.
      expect(kills).toBeGreaterThan(FRAMES.length * 2);
    },
    120_000,
  );

  it('and was only slow can save nothing after another worker has taken the turn over', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const first = await sendFrame(bench, camera, await EMPTY, T);
    await workOff('gate', turnProcessor(bench));
    const second = await sendFrame(bench, camera, await CAR, T + 1000);
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    let began = () => {};
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const slow = pixelPipeline({
      onCompare: async () => {
        began();
        await paused;
      },
    });
    const worked: WorkedFrame[] = [];
    const zombie = turnProcessor(bench, { pipeline: slow.pipeline }).process(
      { v: 2, camera: 'gate' },
      { job: 'job', onFrame: (frame) => worked.push(frame) },
    );
    await beginning;
    await workOff('gate', turnProcessor(bench));
    const saved = await bench.cameras.state('gate');
    resume();
    expect(await zombie).toEqual({ kind: 'worked', more: false });
    expect(worked).toMatchObject([{ outcome: { kind: 'skipped', why: 'final' } }]);
    expect(await bench.cameras.state('gate')).toEqual(saved);
    expect(saved).toMatchObject({ frames: 2, last: { comparison: second } });
    expect(first).not.toBe(second);
  });

  it('three times beside other jobs fails no frame', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const innocent = await sendFrame(bench, camera, await EMPTY, T);
    for (const worker of ['wrk_1', 'wrk_2', 'wrk_3']) {
      await bench.turns.take('gate', { job: 'job', token: `killed ${worker}`, ttlMs: 60_000, worker });
    }
    await workOff('gate', turnProcessor(bench));
    expect(await readComparison(bench, innocent)).toMatchObject({ status: 'finished' });
  });

  it('twice by one frame puts that frame into quarantine, and the next is processed', async () => {
    const camera = await setUpCamera(bench, 'gate');
    const deadly = await sendFrame(bench, camera, await EMPTY, T);
    const next = await sendFrame(bench, camera, await EMPTY, T + 1000);
    for (const worker of ['wrk_1', 'wrk_2']) {
      const turn = await bench.turns.take('gate', { job: 'job', token: `killed ${worker}`, ttlMs: 60_000, worker });
      await bench.turns.alone(turn as Turn, worker);
    }
    await workOff('gate', turnProcessor(bench));
    expect(await readComparison(bench, deadly)).toMatchObject({
      status: 'failed',
      error: { status: 500, detail: 'It ran alone 2 times and the worker died each time, so it is not tried again' },
    });
    expect(await readComparison(bench, next)).toMatchObject({ status: 'finished' });
  });
});

describe('a turn that fails for now', () => {
  const failing = (times: number): TurnOptions => {
    let failed = 0;
    return {
      pipeline: pixelPipeline({
        onCompare: () => {
          if (failed++ < times) throw new ScenedeltaError('inference-failed', 'out of memory');
        },
      }).pipeline,
    };
  };

  it('is retried by the same job, and taken by no other meanwhile', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await sendFrame(bench, camera, await EMPTY, T);
    await workOff('gate', turnProcessor(bench));
    const car = await sendFrame(bench, camera, await CAR, T + 1000);
    await sendFrame(bench, camera, await EMPTY, T + 2000);
    const processor = turnProcessor(bench, failing(1));
    const begun = Date.now();
    const later = await processor.process({ v: 2, camera: 'gate' }, { job: '7' });
    expect(later).toMatchObject({ kind: 'later' });
    expect((later as { at: number }).at).toBeGreaterThanOrEqual(begun + 1_000);
    expect(await processor.process({ v: 2, camera: 'gate' }, { job: '8' })).toEqual({ kind: 'idle' });
    expect(await processor.process({ v: 2, camera: 'gate' }, { job: '7' })).toMatchObject({ kind: 'worked' });
    expect(await readComparison(bench, car)).toMatchObject({ status: 'finished', verdict: 'change' });
  });

  it('fails after three tries, and the next frame is processed', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await sendFrame(bench, camera, await EMPTY, T);
    await workOff('gate', turnProcessor(bench));
    const car = await sendFrame(bench, camera, await CAR, T + 1000);
    const next = await sendFrame(bench, camera, await CAR, T + 2000);
    const processor = turnProcessor(bench, failing(3));
    const process = () => processor.process({ v: 2, camera: 'gate' }, { job: '7' });
    expect([(await process()).kind, (await process()).kind, (await process()).kind]).toEqual([
      'later',
      'later',
      'worked',
    ]);
    expect(await readComparison(bench, car)).toMatchObject({ status: 'failed', error: { status: 500 } });
    await workOff('gate', processor, '7');
    expect(await readComparison(bench, next)).toMatchObject({ status: 'finished', verdict: 'change' });
  });

  it('queues a job for the next frame only if one waits, after it has released the turn', async () => {
    const camera = await setUpCamera(bench, 'gate');
    await sendFrame(bench, camera, await EMPTY, T);
    await sendFrame(bench, camera, await EMPTY, T + 1000);
    const made: string[] = [];
    let now = Date.now();
    const processor = turnProcessor(bench, {
      // So late that each job has time for one frame.
      clock: () => (now += 1_000),
      queue: {
        addTurn: async (id) => {
          made.push(`${id} ${await bench.redis.exists('sd:cam:gate:turn')}`);
        },
      },
    });
    for (const job of ['1', '2', '3']) await processor.process({ v: 2, camera: 'gate' }, { job });
    expect(made).toEqual(['gate 0']);
  });
});
