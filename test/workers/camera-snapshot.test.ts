/** Snapshots: pulled on a schedule through the guard, and the camera's own retention. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { QUEUE_PREFIX, SNAPSHOT_QUEUE } from '../../src/jobs/queues.js';
import { reconcileSnapshots, scheduleSnapshots } from '../../src/jobs/snapshot-schedule.js';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { frameKey } from '../../src/stores/blobs.js';
import { KEYS } from '../../src/stores/keys.js';
import { createCameraRetention } from '../../src/workers/camera-retention.js';
import { createSnapshotPuller, snapshotsWanted } from '../../src/workers/camera-snapshot.js';
import { type QueueWorkers, startSnapshotWorker } from '../../src/workers/queue-workers.js';
import {
  picture,
  RED,
  readComparison,
  sendFrame,
  setUpCamera,
  turnProcessor,
  workOff,
} from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { eventually } from '../helpers/eventually.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

let bench: Bench;
let camera: Receiver;
let queue: Queue;
let outbound: OutboundClient;
const running: QueueWorkers[] = [];
/** what the camera answers with */
let answer: { status: number; body: Buffer; hangs?: Promise<void> };

beforeAll(async () => {
  bench = await setUpBench();
  queue = new Queue(SNAPSHOT_QUEUE, { connection: bench.redis, prefix: QUEUE_PREFIX });
  outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 2_000 });
  camera = await startReceiver(async (_request, response) => {
    await answer.hangs;
    response.writeHead(answer.status, { 'content-type': 'image/png' }).end(answer.body);
  });
});
beforeEach(async () => {
  await bench.redis.flushall();
  answer = { status: 200, body: await picture() };
});
afterEach(async () => {
  for (const worker of running.splice(0)) await worker.close();
});
afterAll(async () => {
  await camera.close();
  await outbound.close();
  await queue.close();
  await bench.stop();
});

const turns: string[] = [];
const puller = (client: OutboundClient = outbound) =>
  createSnapshotPuller({
    ...bench,
    fetchFrame: createFrameFetcher({
      ...bench,
      outbound: client,
      s3: undefined,
      config: { frameLimit: 100_000, pixelLimit: 1_000_000 },
    }),
    queue: { addTurn: async (id) => void turns.push(id) },
    holdMs: 60_000,
    clock: Date.now,
    logger,
  });
const pull = (id: string, client?: OutboundClient) => puller(client)({ v: 1, camera: id });
const snapshot = () => ({ snapshot: { url: `${camera.url}/frame.png?token=secret`, interval_s: 1 } });
const line = async (id: string) => {
  const { items } = await bench.results.list({ camera: id, limit: 10 });
  return items;
};

describe('a pull', () => {
  it('brings a frame into the line of the camera, and is compared like any other', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    await pull('gate');
    answer = { status: 200, body: await picture({ things: [[60, 30, 12, 10, RED]] }) };
    await pull('gate');
    expect(turns).toEqual(['gate', 'gate']);
    await workOff('gate', turnProcessor(bench));
    expect((await line('gate')).map(({ verdict }) => verdict)).toEqual(['change', 'none']);
    expect(await bench.cameras.snapshot('gate')).toMatchObject({ error: null });
  });

  it('is left out while another of the camera hangs', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    let goOn = () => {};
    const hangs = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    answer = { ...answer, hangs };
    const asked = camera.received.length;
    const first = pull('gate');
    await camera.count(asked + 1);
    await Promise.race([pull('gate'), camera.count(asked + 2)]);
    goOn();
    await first;
    expect(camera.received).toHaveLength(asked + 1);
    expect(await line('gate')).toHaveLength(1);
    await pull('gate');
    expect(camera.received).toHaveLength(asked + 2);
  });

  it('masks the frame before it is stored', async () => {
    const polygon = [
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    await setUpCamera(bench, 'gate', { ...snapshot(), zones: [{ id: 'p', type: 'privacy', polygon }] });
    await pull('gate');
    const [comparison] = await line('gate');
    const stored = await bench.results.get(comparison?.id ?? '');
    expect(stored?.frames.after).toMatchObject({
      contentType: 'image/jpeg',
      mask: expect.stringMatching(/^msk_/),
    });
  });

  it.each([
    ['an address that is not there', { status: 404, body: Buffer.alloc(0) }, /^url-failed: .*answered 404/],
    ['a camera that is busy', { status: 503, body: Buffer.alloc(0) }, /^url-unavailable/],
    ['something that is no image', { status: 200, body: Buffer.from('<html>') }, /^url-failed/],
  ])('of %s says so in the status and makes no comparison', async (_what, given, error) => {
    answer = given;
    await setUpCamera(bench, 'gate', snapshot());
    await pull('gate');
    const outcome = await bench.cameras.snapshot('gate');
    expect(outcome?.error).toMatch(error);
    // the address may hold a password
    expect(outcome?.error).not.toContain('secret');
    expect(await line('gate')).toEqual([]);
  });

  it('goes through the guard: a private address is not asked', async () => {
    const strict = createOutboundClient({ outboundAllow: [], outboundTimeoutMs: 2_000 });
    await setUpCamera(bench, 'gate', snapshot());
    const asked = camera.received.length;
    await pull('gate', strict);
    expect((await bench.cameras.snapshot('gate'))?.error).toMatch(/^url-refused/);
    expect(camera.received).toHaveLength(asked);
    await strict.close();
  });

  it('is left out where frames wait already, for a camera without snapshots, and for one that is gone', async () => {
    const busy = await setUpCamera(bench, 'gate', snapshot());
    for (const at of [1, 2]) await sendFrame(bench, busy, await picture(), at);
    const asked = camera.received.length;
    await pull('gate');
    expect((await bench.cameras.snapshot('gate'))?.error).toMatch(/2 frames .* waiting already/);
    await setUpCamera(bench, 'gate', {});
    await pull('gate');
    await pull('nowhere');
    expect(camera.received).toHaveLength(asked);
  });
});

describe('the schedule', () => {
  it('has the camera asked again and again, until its snapshots end', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    running.push(
      startSnapshotWorker({ redis: bench.redis, config: { jobLockMs: 2_000 }, logger, pull: puller() }),
    );
    const asked = camera.received.length;
    await scheduleSnapshots(queue, 'gate', 1);
    await camera.count(asked + 2);
    await eventually(async () => expect((await line('gate')).length).toBeGreaterThan(0));
    await scheduleSnapshots(queue, 'gate', null);
    expect(await queue.getJobSchedulersCount()).toBe(0);
  });

  it('is put right: what a crash left out is added, what is no longer wanted goes, the rest stays', async () => {
    await setUpCamera(bench, 'a', snapshot());
    await setUpCamera(bench, 'b', { snapshot: { url: 'http://b.example/', interval_s: 60 } });
    await setUpCamera(bench, 'c', {});
    await scheduleSnapshots(queue, 'b', 5);
    await scheduleSnapshots(queue, 'c', 5);
    await scheduleSnapshots(queue, 'gone', 5);
    const wanted = await snapshotsWanted(bench.cameras);
    expect([...wanted]).toEqual([
      ['a', 1],
      ['b', 60],
    ]);
    await reconcileSnapshots(queue, wanted);
    const found = (await queue.getJobSchedulers()).map(({ key, every }) => [key, Number(every)]);
    expect(found.sort()).toEqual([
      ['a', 1_000],
      ['b', 60_000],
    ]);
  });
});

describe("a camera's own retention", () => {
  const HOUR = 3_600_000;
  const retention = (skipMs: number) => createCameraRetention({ ...bench, clock: () => Date.now() + skipMs });
  const send = async (settings: object, frames: readonly Buffer[]) => {
    const gate = await setUpCamera(bench, 'gate', settings);
    const ids: string[] = [];
    for (const [i, frame] of frames.entries()) ids.push(await sendFrame(bench, gate, frame, i));
    await workOff('gate', turnProcessor(bench));
    return ids;
  };
  const isStored = async (frame: { sha256: string } | null | undefined) =>
    (await bench.blobs.get(frameKey(frame?.sha256 ?? ''))) !== undefined;

  it('takes frames and comparisons that have come of age, and leaves what the next frame is compared with', async () => {
    const frames = [await picture(), await picture({ background: [95, 120, 150] })];
    const [first, second] = await send({ retention: { frames_hours: 1, results_hours: 2 } }, frames);
    const stored = await bench.results.get(second ?? '');
    expect(await retention(0).retain(new Set())).toEqual({ comparisons: 0, changes: 0, frames: 0 });

    const later = retention(1.5 * HOUR);
    const inUse = await later.framesInUse();
    expect(inUse).toEqual(new Set([frameKey(stored?.frames.after?.sha256 ?? '')]));
    expect(await later.retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 1 });
    expect([await isStored(stored?.frames.before), await isStored(stored?.frames.after)]).toEqual([
      false,
      true,
    ]);
    // what was done is not done again
    expect(await later.retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 0 });

    expect(await retention(3 * HOUR).retain(inUse)).toEqual({ comparisons: 2, changes: 0, frames: 0 });
    await expect(readComparison(bench, first ?? '')).rejects.toThrow(/there is no/);
  });

  it('of no hours leaves a frame that has come since it was asked what is in use: the next one is compared with it', async () => {
    const none = { retention: { frames_hours: 0 } };
    await send(none, [await picture()]);
    const inUse = await retention(0).framesInUse();
    const gate = await setUpCamera(bench, 'gate', none);
    await sendFrame(bench, gate, await picture({ background: [95, 120, 150] }), 1);
    await workOff('gate', turnProcessor(bench));
    // the rounds of some workers' clocks may be a little ahead
    expect(await retention(1_000).retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 0 });
    expect(await isStored((await bench.cameras.state('gate'))?.anchor?.frame)).toBe(true);

    const later = retention(10 * 60_000);
    expect(await later.retain(await later.framesInUse())).toEqual({ comparisons: 0, changes: 0, frames: 1 });
  });

  it('takes changes that nobody has written for as long, with their alerts, and leaves others', async () => {
    await setUpCamera(bench, 'gate', { retention: { results_hours: 2 } });
    await setUpCamera(bench, 'yard', {});
    const [old, young] = [foundChange({ name: 'old' }), foundChange({ name: 'young' })];
    const others = foundChange({ name: 'other', camera: 'yard' });
    for (const change of [old, young, others]) {
      const turn = { camera: change.camera, changes: [opening(change)], alerts: [storedAlert(change)] };
      await saveTurnChanges(bench.redis, turn);
    }
    for (const change of [old, others]) {
      await bench.redis.zadd(KEYS.changesByWriting, Date.now() - 2.5 * HOUR, change.id);
    }
    expect(await retention(0).retain(new Set())).toEqual({ comparisons: 0, changes: 1, frames: 0 });
    const left = [old, young, others].map(({ id }) => bench.changes.get(id));
    expect((await Promise.all(left)).map((change) => change?.id)).toEqual([undefined, young.id, others.id]);
    expect(await bench.changes.alert(storedAlert(old).intent.id)).toBeUndefined();
    expect(await bench.changes.alert(storedAlert(young).intent.id)).toBeDefined();
  });

  it('knows plates and references among what is in use', async () => {
    const [first] = await send({ before: 'memory' }, [await picture()]);
    const plate = (await bench.results.get(first ?? ''))?.frames.after;
    const reference = { from: 'stored' as const, sha256: 'd'.repeat(64), bytes: 1, contentType: 'image/png' };
    await setUpCamera(bench, 'yard', { before: 'reference' }, { reference });
    const expected = [plate?.sha256 ?? '', reference.sha256].map(frameKey);
    expect(await retention(0).framesInUse()).toEqual(new Set(expected));
  });
});
