/** Snapshot pulls: one frame of a camera, on a schedule, through the outbound guard. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { QUEUE_PREFIX, SNAPSHOT_QUEUE } from '../../src/jobs/queues.js';
import { type QueueWorkers, serveTable } from '../../src/jobs/run-jobs.js';
import { reconcileSnapshots, scheduleSnapshots } from '../../src/jobs/snapshot-schedule.js';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { loginContext, sealLogin } from '../../src/secrets/login.js';
import { createRefusedLogins } from '../../src/stores/redis/refused-logins.js';
import { createRunStore } from '../../src/stores/redis/runs.js';
import { createSnapshotPuller, snapshotsWanted } from '../../src/workers/camera-snapshot.js';
import { snapshotQueue } from '../../src/workers/queue-workers.js';
import { picture, RED, sendFrame, setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { eventually } from '../helpers/eventually.js';
import { startLoginCamera } from '../helpers/login-camera.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { startRtspCamera } from '../helpers/rtsp-camera.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

const LOGIN_KEY = Buffer.alloc(32, 7);
let bench: Bench;
let camera: Receiver;
let queue: Queue;
let outbound: OutboundClient;
const running: QueueWorkers[] = [];
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
const puller = (client: OutboundClient = outbound, log = logger) =>
  createSnapshotPuller({
    ...bench,
    fetchFrame: createFrameFetcher({
      ...bench,
      outbound: client,
      s3: undefined,
      config: { frameLimit: 100_000, pixelLimit: 1_000_000 },
    }),
    queue: { addTurn: async (id) => void turns.push(id) },
    loginKey: LOGIN_KEY,
    holdMs: 60_000,
    cameraDeadline: 3_600,
    clock: Date.now,
    logger: log,
  });
const pull = (id: string, client?: OutboundClient) => puller(client).scheduled({ v: 2, camera: id });
const snapshot = () => ({ snapshot: { url: `${camera.url}/frame.png?token=secret`, interval_s: 1 } });
const comparisonsOf = async (id: string) => (await bench.results.list({ camera: id, limit: 10 })).items;

describe('a pull', () => {
  it('queues a frame, which is compared like any other', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    await pull('gate');
    answer = { status: 200, body: await picture({ things: [[60, 30, 12, 10, RED]] }) };
    await pull('gate');
    expect(turns).toEqual(['gate', 'gate']);
    await workOff('gate', turnProcessor(bench));
    expect((await comparisonsOf('gate')).map(({ verdict }) => verdict)).toEqual(['change', 'none']);
    expect(await bench.cameras.snapshot('gate')).toMatchObject({ error: null });
  });

  it('on a signal is queued at once, beside the schedule, and says why there is no frame', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    const id = await puller().now('gate');
    await workOff('gate', turnProcessor(bench));
    expect(await comparisonsOf('gate')).toMatchObject([{ id, verdict: 'none' }]);
    answer.status = 503;
    await expect(puller().now('gate')).rejects.toMatchObject({ code: 'url-unavailable' });
    await setUpCamera(bench, 'posted');
    await expect(puller().now('posted')).rejects.toMatchObject({ code: 'invalid-value' });
  });

  it('is logged when it begins to fail, when it fails for another reason, and when frames come again', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    const lines: string[] = [];
    const warn = (_fields: object, text: string) => void lines.push(text);
    const logging = puller(outbound, { ...logger, warn, info: warn } as unknown as typeof logger);
    for (const status of [200, 503, 503, 503, 404, 404, 200, 200]) {
      answer.status = status;
      await logging.scheduled({ v: 2, camera: 'gate' });
      await workOff('gate', turnProcessor(bench));
    }
    expect(lines).toEqual(['snapshot not pulled', 'snapshot not pulled', 'snapshots are pulled again']);
  });

  it('is skipped while another pull of the camera is under way', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    let release = () => {};
    const hangs = new Promise<void>((resolve) => {
      release = resolve;
    });
    answer = { ...answer, hangs };
    const asked = camera.received.length;
    const presence = await createRunStore(bench.redis, bench.worker).listen();
    const first = pull('gate');
    await camera.count(asked + 1);
    await Promise.race([pull('gate'), camera.count(asked + 2)]);
    release();
    await first;
    expect(camera.received).toHaveLength(asked + 1);
    expect(await comparisonsOf('gate')).toHaveLength(1);
    await pull('gate');
    expect(camera.received).toHaveLength(asked + 2);
    await presence.close();
  });

  it('goes on at once after a worker that died during one', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    await bench.cameras.beginPull('gate', 'wrk_dead:1', 60_000);
    await pull('gate');
    expect(await comparisonsOf('gate')).toHaveLength(1);
  });

  it('masks the frame before it is stored', async () => {
    const polygon = [
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    await setUpCamera(bench, 'gate', { ...snapshot(), zones: [{ id: 'p', type: 'privacy', polygon }] });
    await pull('gate');
    const [comparison] = await comparisonsOf('gate');
    const stored = await bench.results.get(comparison?.id ?? '');
    expect(stored?.frames.after).toMatchObject({
      contentType: 'image/jpeg',
      mask: expect.stringMatching(/^msk_/),
    });
  });

  it.each([
    ['an unknown address', { status: 404, body: Buffer.alloc(0) }, /^url-failed: .*answered 404/],
    ['a busy camera', { status: 503, body: Buffer.alloc(0) }, /^url-unavailable/],
    ['a response that is not an image', { status: 200, body: Buffer.from('<html>') }, /^url-failed/],
  ])('of %s reports the error in the status and makes no comparison', async (_what, given, error) => {
    answer = given;
    await setUpCamera(bench, 'gate', snapshot());
    await pull('gate');
    const outcome = await bench.cameras.snapshot('gate');
    expect(outcome?.error).toMatch(error);
    // The address may contain a password.
    expect(outcome?.error).not.toContain('secret');
    expect(await comparisonsOf('gate')).toEqual([]);
  });

  it('of a camera that asks for a login uses the stored one', async () => {
    const login = { username: 'viewer', password: 'geheim: "1"' };
    const guarded = await startLoginCamera({ ...login, schemes: ['digest-sha256'], body: await picture() });
    const url = `${guarded.url}/frame.png`;
    const settings = { snapshot: { url, interval_s: 1 } };
    await setUpCamera(bench, 'gate', settings, {
      login: sealLogin(login, LOGIN_KEY, loginContext('gate', url)),
    });
    await pull('gate');
    expect(await bench.cameras.snapshot('gate')).toMatchObject({ error: null });
    expect(await comparisonsOf('gate')).toHaveLength(1);
    // Nothing that is stored shows the login.
    expect(JSON.stringify(await bench.redis.hgetall('sd:cam:gate'))).not.toMatch(/viewer|geheim/);
    await guarded.close();
  });

  it('with a wrong password is asked once, also by the worker after a restart', async () => {
    const guarded = await startLoginCamera({
      username: 'viewer',
      password: 'right',
      schemes: ['basic'],
      body: await picture(),
    });
    const url = `${guarded.url}/frame.png`;
    const login = sealLogin({ username: 'viewer', password: 'wrong' }, LOGIN_KEY, loginContext('gate', url));
    await setUpCamera(bench, 'gate', { snapshot: { url, interval_s: 1 } }, { login });
    const asked: number[] = [];
    for (const _worker of [1, 2, 3]) {
      const client = createOutboundClient(
        { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 5_000 },
        { refusedLogins: createRefusedLogins(bench.redis, LOGIN_KEY) },
      );
      await pull('gate', client);
      expect((await bench.cameras.snapshot('gate'))?.error).toContain('refused the user name or the password');
      asked.push(guarded.received.length);
      await client.close();
    }
    expect(asked).toEqual([2, 2, 2]);
    await guarded.close();
  });

  it('of an RTSP camera stores a frame of its video, and no error shows the login', async () => {
    const login = { username: 'viewer', password: 'geheim' };
    const recorder = await startRtspCamera({ login: { ...login, schemes: ['digest-md5'] } });
    const client = createOutboundClient(
      { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 45_000 },
      { rtsp: { ffmpeg: 'ffmpeg', pixelLimit: 1_000_000 } },
    );
    const pullWith = async (password: string) => {
      const sealed = sealLogin({ ...login, password }, LOGIN_KEY, loginContext('gate', recorder.url));
      await setUpCamera(bench, 'gate', { snapshot: { url: recorder.url, interval_s: 1 } }, { login: sealed });
      await pull('gate', client);
      return (await bench.cameras.snapshot('gate'))?.error;
    };
    expect(await pullWith('geheim')).toBeNull();
    expect(await comparisonsOf('gate')).toHaveLength(1);
    expect(await pullWith('falsch')).toBe(
      `url-failed: ${recorder.url} refused the user name or the password (401); it is asked again after five minutes`,
    );
    await client.close();
    await recorder.close();
  }, 60_000);

  it('reports a login that was encrypted with an earlier secret, and sends nothing', async () => {
    const url = `${camera.url}/frame.png`;
    const login = sealLogin({ username: 'a', password: 'b' }, Buffer.alloc(32), loginContext('gate', url));
    await setUpCamera(bench, 'gate', { snapshot: { url, interval_s: 1 } }, { login });
    const asked = camera.received.length;
    await pull('gate');
    expect((await bench.cameras.snapshot('gate'))?.error).toMatch(/LOGIN_SECRET .* has changed/);
    expect(camera.received).toHaveLength(asked);
  });

  it('is refused by the guard for a private address', async () => {
    const strict = createOutboundClient({ outboundAllow: [], outboundTimeoutMs: 2_000 });
    await setUpCamera(bench, 'gate', snapshot());
    const asked = camera.received.length;
    await pull('gate', strict);
    expect((await bench.cameras.snapshot('gate'))?.error).toMatch(/^url-refused/);
    expect(camera.received).toHaveLength(asked);
    await strict.close();
  });

  it('is skipped if frames are waiting, for a camera without snapshots, and for an erased one', async () => {
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
  it('pulls repeatedly until the snapshots are switched off', async () => {
    await setUpCamera(bench, 'gate', snapshot());
    running.push(
      serveTable(
        { [SNAPSHOT_QUEUE]: snapshotQueue(puller().scheduled, logger) },
        { redis: bench.redis, config: { jobLockMs: 2_000 }, logger, guard: bench.guard },
      ),
    );
    const asked = camera.received.length;
    await scheduleSnapshots(queue, 'gate', 1);
    await camera.count(asked + 2);
    await eventually(async () => expect((await comparisonsOf('gate')).length).toBeGreaterThan(0));
    await scheduleSnapshots(queue, 'gate', null);
    expect(await queue.getJobSchedulersCount()).toBe(0);
  });

  it('is reconciled with the settings: missing entries are added, and others are corrected or removed', async () => {
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
