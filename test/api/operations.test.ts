import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { buffer, text } from 'node:stream/consumers';
import { frameKey } from '../../src/base/blobs.js';
import type { StoredFrameRef } from '../../src/schemas/frame-ref.js';
import { acceptedComparison, jobOf } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { fakeApp, MODEL, workerWith } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', dataDir: tmpdir() });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

describe('Probes', () => {
  it('report the process as alive although every dependency fails', async () => {
    fake.queue.away = true;
    expect((await fake.inject({ url: '/livez' })).json()).toEqual({ alive: true });
  });

  it('report the service as ready only when Redis answers and a worker has warmed up', async () => {
    const ready = async () => {
      const answer = await fake.inject({ url: '/readyz' });
      return [answer.statusCode, answer.json()];
    };
    expect(await ready()).toEqual([
      503,
      { ready: false, redis: true, writable: true, disk_full: false, evicts: false, workers: 0, clock_offset_s: 0 },
    ]);
    fake.workers.live = [workerWith()];
    expect(await ready()).toEqual([
      503,
      { ready: false, redis: true, writable: true, disk_full: false, evicts: false, workers: 0, clock_offset_s: 0 },
    ]);
    fake.workers.live = [workerWith(), workerWith(MODEL)];
    expect(await ready()).toEqual([
      200,
      { ready: true, redis: true, writable: true, disk_full: false, evicts: false, workers: 1, clock_offset_s: 0 },
    ]);
    fake.workers.live = [{ ...workerWith(MODEL), paused: true }];
    expect(await ready()).toEqual([
      503,
      { ready: false, redis: true, writable: true, disk_full: false, evicts: false, workers: 0, clock_offset_s: 0 },
    ]);
    fake.workers.live = [workerWith(MODEL)];
    fake.queue.full = true;
    expect(await ready()).toEqual([
      503,
      { ready: false, redis: true, writable: false, disk_full: false, evicts: false, workers: 1, clock_offset_s: 0 },
    ]);
    fake.queue.away = true;
    expect(await ready()).toEqual([
      503,
      { ready: false, redis: false, writable: false, disk_full: false, evicts: false, workers: 0, clock_offset_s: 0 },
    ]);
  });
});

describe('/readyz?exclude=workers', () => {
  it('is ready without a worker, as long as Redis takes writes', async () => {
    const status = async () => (await fake.inject({ url: '/readyz?exclude=workers' })).statusCode;
    expect(await status()).toBe(200);
    fake.queue.full = true;
    expect(await status()).toBe(503);
  });

  it.each(['/readyz?exclude=redis', '/readyz?workers=0'])('%s is refused', async (url) => {
    expect((await fake.inject({ url })).statusCode).toBe(400);
  });
});

describe('A disk without room', () => {
  it.each(['space', 'inodes'] as const)('(%s) is not ready', async (shortage) => {
    fake.workers.live = [workerWith(MODEL)];
    fake.disk.shortage = shortage;
    const answer = await fake.inject({ url: '/readyz' });
    expect([answer.statusCode, answer.json()]).toEqual([
      503,
      expect.objectContaining({ disk_full: true, redis: true }),
    ]);
  });

  it('is named by a request that Redis refuses because of it, in place of Redis', async () => {
    fake.queue.away = true;
    const request = { url: '/internal/scale' };
    expect((await fake.inject(request)).json()).toMatchObject({
      detail: expect.stringContaining('Redis'),
      status: 503,
    });
    fake.disk.shortage = 'inodes';
    const named = await fake.inject(request);
    expect(named.json()).toMatchObject({
      type: expect.stringMatching(/storage-unavailable$/),
      detail: expect.stringMatching(/^The disk of the data folder has no inodes left/),
    });
    expect(named.json().detail).not.toContain('Redis');
  });
});

it('/readyz is not ready while Redis may evict keys', async () => {
  fake.workers.live = [workerWith(MODEL)];
  fake.queue.evicting = true;
  const answer = await fake.inject({ url: '/readyz' });
  expect([answer.statusCode, answer.json()]).toEqual([503, expect.objectContaining({ ready: false, evicts: true })]);
});

describe('Closing', () => {
  const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;
  /** Starts the app on a port; /v1/models is answered when `answer` is called. */
  const listening = async () => {
    let asked = () => {};
    let answer = () => {};
    const begun = new Promise<void>((done) => (asked = done));
    const held = new Promise<void>((done) => (answer = done));
    const list = async () => {
      asked();
      await held;
      return [];
    };
    const { app, ...fakes } = await fakeApp({}, { workers: { list } });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const send = (path: string) => {
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(GET(path));
      return socket;
    };
    return { app, send, begun, answer, ...fakes };
  };

  it('answers running requests, and refuses later ones with the problem `closing`', async () => {
    const { app, send, begun, answer } = await listening();
    const first = send('/v1/models');
    await begun;
    const closed = app.close();
    const second = await text(send('/v1/models'));
    answer();
    expect(await text(first)).toMatch(/^HTTP\/1.1 200 OK/);
    await closed;
    expect(second).toMatch(/^HTTP\/1.1 503 Service Unavailable/);
    expect(second).toMatch(/content-type: application\/problem\+json/i);
    expect(second).toMatch(/connection: close/i);
    expect(second).toMatch(/retry-after: 1\r/i);
    expect(second).toContain('"type":"https://scenedelta.dev/errors/closing"');
  });

  it('does not wait for an idle keep-alive connection', async () => {
    const { app, send, begun, answer, events } = await listening();
    const [asking, watching] = [send('/v1/models'), send('/v1/events')];
    await begun;
    await eventually(() => expect(events.listening).toBe(1));
    const closed = app.close();
    await eventually(() => expect(events.listening).toBe(0));
    answer();
    await closed;
    expect(await text(asking)).toMatch(/connection: close/i);
    expect(await text(watching)).toMatch(/\r\n0\r\n\r\n$/);
  });

  it('sends an answer completely to a slow reader', async () => {
    const { app, send, results, blobs } = await listening();
    const stored = acceptedComparison();
    await results.create(stored);
    // More than the kernel buffers.
    const frame = Buffer.alloc(16 * 1024 * 1024, 1);
    await blobs.put(frameKey((stored.frames.before as StoredFrameRef).sha256), frame);
    const socket = send(`/v1/comparisons/${stored.comparison.id}/frames/before`);
    await eventually(() => expect(socket.bytesRead).toBeGreaterThan(0));
    const closed = app.close();
    const received = await buffer(socket);
    await closed;
    expect(received.subarray(received.indexOf('\r\n\r\n') + 4)).toHaveLength(frame.length);
  });
});

describe('/internal/scale', () => {
  it('sums every state of a queue, prioritized jobs included', async () => {
    await fake.queue.addComparison(jobOf(acceptedComparison()));
    const { live, archive } = (await fake.inject({ url: '/internal/scale' })).json();
    expect(live).toEqual({ backlog: 1, waiting: 0, prioritized: 1, delayed: 0, active: 0 });
    expect(archive.backlog).toBe(0);
  });
});

describe('METRICS_AUTH=on', () => {
  it('asks for a key with the scope metrics on /metrics and /internal/scale, and leaves the probes open', async () => {
    const locked = await fakeApp({ auth: 'on', metricsAuth: true });
    const key = async (scope: 'compare' | 'metrics') =>
      (await locked.apiKeys.create({ name: scope, scopes: [scope] })).secret;
    const [compare, metrics] = [await key('compare'), await key('metrics')];
    const ask = async (url: string, secret?: string) => {
      const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
      return (await locked.inject({ url, headers })).statusCode;
    };
    for (const url of ['/metrics', '/internal/scale']) {
      expect([url, await ask(url), await ask(url, compare), await ask(url, metrics)]).toEqual([url, 401, 403, 200]);
      expect((await fake.inject({ url })).statusCode).toBe(200);
    }
    expect([await ask('/livez'), await ask('/readyz'), await ask('/v1/models', metrics)]).toEqual([200, 503, 403]);
    await locked.app.close();
  });
});

describe('/metrics', () => {
  it('counts answers by route pattern and status, and the jobs of each queue', async () => {
    await fake.queue.addComparison(jobOf(acceptedComparison()));
    await fake.inject({ url: '/v1/comparisons/cmp_01k9x3v5s8q2m7c4w6n1b0t9hz' });
    const { body } = await fake.inject({ url: '/metrics' });
    expect(body).toMatch(
      /scenedelta_http_request_duration_seconds_count\{method="GET",route="\/v1\/comparisons\/:id",status="401"\} 1/,
    );
    expect(body).toContain('scenedelta_queue_jobs{queue="live",state="prioritized"} 1');
    expect(body).not.toContain('cmp_01');
  });

  it('has the age of the oldest waiting job per queue, and the space of DATA_DIR', async () => {
    fake.queue.oldestLive = Date.now() - 90_000;
    const { body } = await fake.inject({ url: '/metrics' });
    fake.queue.oldestLive = undefined;
    const [, age] = /^scenedelta_queue_oldest_seconds\{queue="live"\} (\S+)$/m.exec(body) ?? [];
    expect(Number(age)).toBeGreaterThanOrEqual(90);
    expect(Number(age)).toBeLessThan(300);
    expect(body).toContain('scenedelta_queue_oldest_seconds{queue="delivery"} 0\n');
    const bytes = (state: string) =>
      Number(new RegExp(`^scenedelta_data_bytes\\{state="${state}"\\} (\\S+)$`, 'm').exec(body)?.[1]);
    expect(bytes('size')).toBeGreaterThan(1e6);
    expect(bytes('free')).toBeLessThanOrEqual(bytes('size'));
  });

  it('still answers while Redis is away', async () => {
    fake.queue.away = true;
    const { statusCode, body } = await fake.inject({ url: '/metrics' });
    expect(statusCode).toBe(200);
    expect(body).not.toContain('scenedelta_queue_jobs{');
    expect(body).not.toContain('scenedelta_queue_oldest_seconds{');
  });
});

describe('/v1/models', () => {
  const get = async (path = '') => {
    const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'] });
    return fake.inject({ url: `/v1/models${path}`, headers: { 'x-api-key': secret } });
  };

  it('lists each bundle once, with its devices and the workers on each', async () => {
    fake.workers.live = [workerWith(MODEL), workerWith(MODEL), workerWith({ ...MODEL, provider: 'cuda:0' })];
    const { items } = (await get()).json();
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      name: MODEL.name,
      metrics: MODEL.metrics,
      served_by: [
        { provider: 'cpu', workers: 2 },
        { provider: 'cuda:0', workers: 1 },
      ],
    });
  });

  it('returns one by name; for an unknown name the error lists the others', async () => {
    fake.workers.live = [workerWith(MODEL)];
    expect((await get(`/${MODEL.name}`)).json().version).toBe(MODEL.version);
    const answer = await get('/other');
    expect([answer.statusCode, answer.json().detail]).toEqual([404, expect.stringContaining(MODEL.name)]);
  });
});

describe('The start page', () => {
  it('links to the resources and to the description', async () => {
    const { links } = (await fake.inject({ url: '/' })).json();
    expect((await fake.app.inject({ url: links.openapi })).json().openapi).toBe('3.1.0');
    expect((await fake.app.inject({ url: `${links.docs}/` })).headers['content-type']).toContain('text/html');
  });
});

describe('GET /v1/comparisons/{id}/deliveries', () => {
  it('lists the attempts', async () => {
    const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'], owner: 'key_test' });
    const stored = acceptedComparison();
    await fake.results.create(stored);
    const delivery = {
      id: stored.comparison.id.replace('cmp', 'dlv'),
      subject: { kind: 'comparison' as const, id: stored.comparison.id },
      url: 'https://example.org/hook',
      state: 'pending' as const,
      next_attempt_at: '2026-01-01T00:00:05.000Z',
      attempts: [{ attempt: 1, at: '2026-01-01T00:00:00.000Z', status: 500, error: 'answered 500', duration_ms: 12 }],
    };
    fake.deliveries.kept.push(delivery);
    const url = `/v1/comparisons/${stored.comparison.id}/deliveries`;
    expect((await fake.inject({ url, headers: { 'x-api-key': secret } })).json()).toEqual({
      items: [delivery],
    });
  });
});
