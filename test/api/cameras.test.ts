import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import { newId } from '../../src/ids.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { frameKey } from '../../src/stores/blobs.js';
import { initialCameraState } from '../../src/workers/camera-frame.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { fakeApp } from '../helpers/fakes.js';
import { form, jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: 50_000 });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const put = (id: string, settings: unknown) =>
  service.inject({
    method: 'PUT',
    url: `/v1/cameras/${id}`,
    payload: typeof settings === 'string' ? settings : JSON.stringify(settings),
    headers: JSON_TYPE,
  });
const get = (url: string) => service.inject({ method: 'GET', url });
const send = (
  id: string,
  body: ReturnType<typeof form> | object,
  headers: Record<string, string> = { prefer: 'respond-async' },
) => {
  const isForm = 'payload' in body && Buffer.isBuffer(body.payload);
  const { payload, headers: own } = isForm
    ? (body as ReturnType<typeof form>)
    : { payload: JSON.stringify(body), headers: JSON_TYPE };
  return service.inject({
    method: 'POST',
    url: `/v1/cameras/${id}/frames`,
    payload,
    headers: { ...own, ...headers },
  });
};
const square = (x1: number, x2: number) => [
  [x1, 0],
  [x2, 0],
  [x2, 1],
  [x1, 1],
];
const PRIVACY = { id: 'window', type: 'privacy', polygon: square(0.5, 1) };
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const isBlackRight = async (bytes: Uint8Array) => {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const level = (share: number) =>
    data[(Math.floor(info.height / 2) * info.width + Math.floor(share * info.width)) * info.channels] ?? -1;
  return level(0.9) < 8 && level(0.1) > 60;
};

describe('settings of a camera', () => {
  it('are put, read and listed; what was left out has its default', async () => {
    const created = await put('gate-3', { name: 'The gate', before: 'memory' });
    expect(created.statusCode).toBe(201);
    expect(created.json()).toMatchObject({
      id: 'gate-3',
      name: 'The gate',
      before: 'memory',
      zones: [],
      reference: null,
    });
    const again = await put('gate-3', { alarms_per_day: 2 });
    expect(again.statusCode).toBe(200);
    // as a whole: what is not given anew is its default again
    expect(again.json()).toMatchObject({ name: null, before: 'previous', alarms_per_day: 2 });
    expect(again.json().created_at).toBe(created.json().created_at);
    const read = (await get('/v1/cameras/gate-3')).json();
    expect(read).toMatchObject({
      alarms_per_day: 2,
      status: { frames: 0, waiting: 0, last_frame_at: null, snapshot: null },
    });
  });

  it('that were read may be sent back', async () => {
    const { created_at, updated_at, id, reference, ...settings } = (
      await put('a', { zones: [PRIVACY] })
    ).json();
    expect((await put('a', settings)).statusCode).toBe(200);
  });

  it('are listed by id, page by page', async () => {
    for (const id of ['c', 'a', 'b']) await put(id, {});
    const first = await get('/v1/cameras?limit=2');
    expect(first.json()).toMatchObject({ items: [{ id: 'a' }, { id: 'b' }], next_cursor: 'b' });
    expect(first.headers.link).toBe('</v1/cameras?limit=2&cursor=b>; rel="next"');
    expect((await get('/v1/cameras?limit=2&cursor=b')).json()).toMatchObject({
      items: [{ id: 'c' }],
      next_cursor: null,
    });
  });

  it('tell how the camera stands', async () => {
    await put('gate', { before: 'memory', alarms_per_day: 1 });
    const plate = {
      frame: { from: 'stored' as const, sha256: 'a'.repeat(64), bytes: 1, contentType: 'image/png' },
      width: 4,
      height: 3,
      learnedAt: 1,
    };
    service.cameras.states.set('gate', {
      ...initialCameraState(),
      frames: 12,
      last: { at: Date.parse('2026-06-01T12:00:00Z'), sha256: 'a', comparison: 'cmp_1' },
      intervalMs: 5000,
      light: 'dusk',
      memory: { day: plate, dusk: plate },
      dial: { threshold: 0.93, alarms_per_day: 17.3 },
    });
    await service.cameras.saveSnapshot('gate', { at: '2026-06-01T12:00:01.000Z', error: 'url-failed: no' });
    expect((await get('/v1/cameras/gate')).json().status).toEqual({
      frames: 12,
      waiting: 0,
      last_frame_at: '2026-06-01T12:00:00.000Z',
      interval_s: 5,
      light: 'dusk',
      memory: ['day', 'dusk'],
      threshold: 0.93,
      false_alarms_per_day: 17.3,
      snapshot: { at: '2026-06-01T12:00:01.000Z', error: 'url-failed: no' },
    });
  });

  it('make and end the schedule of snapshots', async () => {
    await put('gate', { snapshot: { url: 'https://cam.example/frame.jpg', interval_s: 30 } });
    expect([...service.queue.snapshots]).toEqual([['gate', 30]]);
    await put('gate', {});
    expect(service.queue.snapshots.size).toBe(0);
  });

  it('keep the identity of a privacy mask for as long as its polygons are the same', async () => {
    const maskOf = async (zones: object[]) => {
      await put('gate', { zones });
      return (await service.cameras.get('gate'))?.mask;
    };
    const first = await maskOf([PRIVACY]);
    expect(first).toMatch(/^msk_/);
    expect(
      await maskOf([
        { ...PRIVACY, name: 'The window' },
        { ...PRIVACY, id: 'i', type: 'ignore' },
      ]),
    ).toBe(first);
    expect(await maskOf([{ ...PRIVACY, polygon: square(0.6, 1) }])).not.toBe(first);
    expect(await maskOf([])).toBeNull();
  });
});

describe('a reference frame', () => {
  it('is stored masked, and told by its hash', async () => {
    const frame = await jpeg(120);
    const answer = await put('gate', { before: 'reference', reference: base64(frame), zones: [PRIVACY] });
    expect(answer.statusCode).toBe(201);
    const { sha256 } = answer.json().reference;
    const kept = service.blobs.kept.get(frameKey(sha256));
    expect(await isBlackRight(kept ?? frame)).toBe(true);
    expect([...service.blobs.kept.values()]).toHaveLength(1);
  });

  it('stays until another is given, or null', async () => {
    const first = (await put('gate', { before: 'reference', reference: base64(await jpeg(120)) })).json()
      .reference;
    expect((await put('gate', { before: 'reference' })).json().reference).toEqual(first);
    expect((await put('gate', { before: 'reference', reference: first })).json().reference).toEqual(first);
    expect((await put('gate', { before: 'reference', reference: null })).json().reference).toBeNull();
  });

  it('is asked for once more where the privacy zones have changed', async () => {
    const reference = base64(await jpeg(120));
    await put('gate', { before: 'reference', reference });
    const refused = await put('gate', { before: 'reference', zones: [PRIVACY] });
    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toMatchObject({ field: 'reference' });
    expect((await put('gate', { before: 'reference', zones: [PRIVACY], reference })).statusCode).toBe(200);
  });
});

describe('settings that cannot be', () => {
  it.each([
    [
      'a polygon that crosses itself',
      {
        zones: [
          {
            id: 'z',
            type: 'include',
            polygon: [
              [0, 0],
              [1, 1],
              [1, 0],
              [0, 1],
            ],
          },
        ],
      },
      400,
      'zones/0/polygon',
    ],
    [
      'a polygon out of the frame',
      {
        zones: [
          {
            id: 'z',
            type: 'include',
            polygon: [
              [0, 0],
              [2, 0],
              [1, 1],
            ],
          },
        ],
      },
      400,
      'zones/0/polygon/1/0',
    ],
    [
      'an unknown time zone',
      { schedule: { timezone: 'Mars/Base', windows: [{ days: ['mon'], from: '00:00', to: '01:00' }] } },
      400,
      'schedule/timezone',
    ],
    ['a dial out of its range', { alarms_per_day: 100_000 }, 400, 'alarms_per_day'],
    [
      'a private address for snapshots',
      { snapshot: { url: 'http://10.0.0.1/x', interval_s: 5 } },
      422,
      'snapshot/url',
    ],
    [
      'a private address for alerts',
      { alerts: { callback_url: 'http://[::1]/x' } },
      422,
      'alerts/callback_url',
    ],
    [
      'a reference that is an address',
      { before: 'reference', reference: { url: 'https://a.example/x.jpg' } },
      400,
      'reference',
    ],
    ['alerts suspended until a leap second', { suspend_until: '2016-12-31T23:59:60Z' }, 400, 'suspend_until'],
    ['a reference that is no image', { before: 'reference', reference: 'aGVsbG8=' }, 422, 'reference'],
    [
      'a reference that is not stored',
      { before: 'reference', reference: { sha256: 'a'.repeat(64) } },
      400,
      'reference',
    ],
    ['a reference of another type', { before: 'reference', reference: 7 }, 400, 'reference'],
    ['no object', '[]', 400, undefined],
  ])('%s', async (_what, settings, status, field) => {
    const answer = await put('gate', settings);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().field).toBe(field);
    expect(await service.cameras.get('gate')).toBeUndefined();
  });

  it.each([
    'http://admin:hunter2@cam.example/',
    'rtsp://admin:hunter2@cam.example/',
    'http://10.0.0.8/?hunter2',
  ])('an address without repeating its password: %s', async (url) => {
    for (const settings of [
      { snapshot: { url, interval_s: 60 } },
      { alerts: { rules: [], callback_url: url } },
    ]) {
      const answer = await put('gate', settings);
      expect([400, 422]).toContain(answer.statusCode);
      expect(answer.body).not.toContain('hunter2');
    }
  });

  it('a name that is none of ours', async () => {
    expect((await put('a%20b', {})).statusCode).toBe(400);
    expect((await get('/v1/cameras/nowhere')).statusCode).toBe(404);
  });
});

describe('a frame of a camera', () => {
  it('as a form is stored, put in the line by its captured time, and a turn is asked for', async () => {
    await put('gate', {});
    const frame = await jpeg();
    const captured_at = '2026-06-01T12:00:00Z';
    const answer = await send('gate', form({ frame, captured_at, metadata: '{"a":1}' }));
    expect(answer.statusCode).toBe(202);
    const { id } = answer.json();
    expect(answer.json()).toMatchObject({ camera: 'gate', status: 'queued', metadata: { a: 1 } });
    expect(answer.headers.location).toBe(`/v1/comparisons/${id}`);
    expect(service.cameras.waiting.get('gate')).toEqual([{ id, at: Date.parse(captured_at) }]);
    expect(service.queue.turns).toEqual(['gate']);
    expect(service.results.kept.get(id)?.request).toMatchObject({
      before: null,
      after: { from: 'stored' },
      turn: { camera: 'gate', capturedAt: Date.parse(captured_at) },
    });
    // it is no job of its own
    expect(service.queue.jobs).toEqual([]);
  });

  it('comes in JSON in every form that comparisons take', async () => {
    await put('gate', {});
    const bytes = await jpeg();
    for (const frame of [
      base64(bytes),
      { base64: base64(bytes) },
      `data:image/jpeg;base64,${base64(bytes)}`,
    ]) {
      expect((await send('gate', { frame })).statusCode).toBe(202);
    }
    const url = await send('gate', { frame: { url: 'https://cam.example/a.jpg' } });
    expect(url.statusCode).toBe(202);
    const stored = service.results.kept.get(url.json().id);
    expect(stored).toMatchObject({ frames: { after: null }, request: { after: { from: 'url' } } });
    // without captured_at: now
    expect(Math.abs((stored?.request.turn?.capturedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  const endsWhileAwaited = async (end: (comparison: Comparison) => Comparison) => {
    await eventually(() => expect(service.events.listening).toBe(1));
    const [stored] = [...service.results.kept.values()];
    if (stored === undefined) throw new Error('nothing is stored of what is waited for');
    await service.results.update(stored.comparison.id, { comparison: end(stored.comparison) });
  };

  it('is waited for as a comparison is', async () => {
    await put('gate', {});
    const answering = send('gate', form({ frame: await jpeg() }), { prefer: 'wait=5' });
    await endsWhileAwaited((comparison) =>
      finished(comparison, {
        camera_frame: { captured_at: '2026-06-01T12:00:00.000Z', before: null, notes: [] },
      }),
    );
    const answer = await answering;
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['preference-applied']).toBe('wait=5');
    expect(answer.json()).toMatchObject({ status: 'finished', camera_frame: { before: null } });
  });

  it('that came too late is answered with its problem and the comparison', async () => {
    await put('gate', {});
    const answering = send('gate', form({ frame: await jpeg() }), { prefer: 'wait=5' });
    const error = {
      type: 'https://scenedelta.dev/errors/frame-out-of-order',
      title: 'A later frame of the camera has been worked on already',
      status: 409,
      detail: 'late',
    };
    await endsWhileAwaited((comparison) => ({
      ...comparison,
      status: 'failed',
      finished_at: new Date().toISOString(),
      error,
    }));
    const answer = await answering;
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ status: 409, comparison: { status: 'failed' } });
  });

  it('sent twice with one Idempotency-Key is taken once', async () => {
    await put('gate', {});
    await put('yard', {});
    const frame = await jpeg();
    const headers = { prefer: 'respond-async', 'idempotency-key': 'k1' };
    const first = await send('gate', form({ frame }), headers);
    const again = await send('gate', form({ frame }), headers);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json().id).toBe(first.json().id);
    expect((await send('yard', form({ frame }), headers)).json().type).toMatch(/idempotency-mismatch$/);
  });

  it('of a camera with privacy zones is masked before a byte of it is stored', async () => {
    await put('gate', { zones: [PRIVACY] });
    const frame = await jpeg(120);
    const { id } = (await send('gate', form({ frame }))).json();
    const after = service.results.kept.get(id)?.frames.after;
    expect(after).toMatchObject({ contentType: 'image/jpeg', mask: expect.stringMatching(/^msk_/) });
    expect(service.blobs.kept.size).toBe(1);
    expect(await isBlackRight(service.blobs.kept.get(frameKey(after?.sha256 ?? '')) ?? frame)).toBe(true);
  });

  it.each([
    ['without a frame', form({ captured_at: '2026-06-01T12:00:00Z' }), 400, 'frame'],
    ['of a comparison', form({ before: 'x', after: 'y' }), 400, 'before'],
    ['that is no image', form({ frame: Buffer.from('hello') }), 422, 'frame'],
    ['from a private address', { frame: { url: 'http://127.0.0.1/a.jpg' } }, 422, 'frame'],
    ['captured at no time', { frame: 'AAAA', captured_at: 'yesterday' }, 400, 'captured_at'],
    [
      'captured in a leap second',
      { frame: { url: 'https://a.example/b.jpg' }, captured_at: '2016-12-31T23:59:60Z' },
      400,
      'captured_at',
    ],
    [
      'captured far ahead',
      { frame: { url: 'https://a.example/b.jpg' }, captured_at: '2999-01-01T00:00:00Z' },
      400,
      'captured_at',
    ],
    ['with a member that is not known', { frame: 'AAAA', camera: 'other' }, 400, 'camera'],
    [
      'with a callback to a private address',
      { frame: { url: 'https://a.example/b.jpg' }, callback_url: 'http://10.1.1.1/' },
      422,
      'callback_url',
    ],
  ])('%s is refused', async (_what, body, status, field) => {
    await put('gate', {});
    const answer = await send('gate', body);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().field).toBe(field);
    expect(service.results.kept.size).toBe(0);
    expect(service.queue.turns).toEqual([]);
  });

  it('of a camera that is not, or with a thousand before it, is refused', async () => {
    expect((await send('nowhere', form({ frame: await jpeg() }))).statusCode).toBe(404);
    await put('gate', {});
    service.cameras.waiting.set(
      'gate',
      Array.from({ length: 1000 }, (_, i) => ({ id: `cmp_${i}`, at: i })),
    );
    const answer = await send('gate', form({ frame: await jpeg() }));
    expect(answer.statusCode).toBe(503);
    expect(answer.json().type).toMatch(/overloaded$/);
  });

  it('leaves nothing where the queue is away', async () => {
    await put('gate', {});
    const frame = await jpeg();
    service.queue.addTurn = () => Promise.reject(Object.assign(new Error('away')));
    const answer = await send('gate', form({ frame }));
    expect(answer.statusCode).toBe(500);
    expect(service.results.kept.size).toBe(0);
    Reflect.deleteProperty(service.queue, 'addTurn');
  });
});

describe('pictures of a camera with privacy zones', () => {
  const stored = async (mask?: string) => {
    const bytes = await jpeg(120);
    await service.blobs.put(frameKey('c'.repeat(64)), bytes);
    const ref = {
      from: 'stored' as const,
      sha256: 'c'.repeat(64),
      bytes: bytes.length,
      contentType: 'image/jpeg',
      ...(mask === undefined ? {} : { mask }),
    };
    const accepted = acceptedComparison({ camera: 'gate', id: newId('cmp'), before: ref, after: ref });
    await service.results.create(accepted);
    return accepted.comparison.id;
  };

  it('that were stored before the zones were set are shown masked', async () => {
    const id = await stored();
    const plain = await get(`/v1/comparisons/${id}/frames/after`);
    expect(await isBlackRight(plain.rawPayload)).toBe(false);
    await put('gate', { zones: [PRIVACY] });
    const masked = await get(`/v1/comparisons/${id}/frames/after`);
    expect(await isBlackRight(masked.rawPayload)).toBe(true);
    expect(masked.headers.etag).not.toBe(plain.headers.etag);
    const hash = String(plain.headers.etag).slice(1, -1);
    expect(masked.headers.etag).not.toContain(hash);
  });

  it('of comparisons that only name the camera are masked too', async () => {
    await put('gate', { zones: [PRIVACY] });
    const body = form({ before: await jpeg(120), after: await jpeg(121), camera: 'gate' });
    const answer = await service.inject({
      method: 'POST',
      url: '/v1/comparisons',
      ...body,
      headers: { ...body.headers, prefer: 'respond-async' },
    });
    const frames = service.results.kept.get(answer.json().id)?.frames;
    for (const ref of [frames?.before, frames?.after]) {
      expect(await isBlackRight(service.blobs.kept.get(frameKey(ref?.sha256 ?? '')) as Uint8Array)).toBe(
        true,
      );
    }
  });
});

describe('erasing a camera', () => {
  it('erases its settings, its schedule and every comparison that names it, and nothing of others', async () => {
    await put('gate', { snapshot: { url: 'https://cam.example/a.jpg', interval_s: 5 } });
    await put('yard', {});
    const frame = await jpeg();
    const gone = (await send('gate', form({ frame }))).json().id;
    const kept = (await send('yard', form({ frame }))).json().id;
    const erase = () => service.inject({ method: 'DELETE', url: '/v1/cameras/gate' });
    expect((await erase()).statusCode).toBe(204);
    expect([...service.results.kept.keys()]).toEqual([kept]);
    expect(service.queue.cancelled).toEqual([gone]);
    expect(service.queue.snapshots.size).toBe(0);
    expect((await get('/v1/cameras/gate')).statusCode).toBe(404);
    expect((await erase()).statusCode).toBe(404);
  });

  it('erases a frame that is being accepted, too: its sender hears that there is no such camera', async () => {
    await put('gate', {});
    const { results, cameras } = service;
    const create = jest.spyOn(results, 'create').mockImplementationOnce(async (stored) => {
      results.kept.set(stored.comparison.id, stored);
      await cameras.erase('gate');
    });
    const answer = await send('gate', form({ frame: await jpeg() }));
    create.mockRestore();
    expect([answer.statusCode, answer.json().type]).toEqual([404, 'https://scenedelta.dev/errors/not-found']);
    expect([results.kept.size, cameras.waiting.size, service.queue.turns]).toEqual([0, 0, []]);
  });
});

describe('keys', () => {
  it('compare may send frames and read, and only admin may change what a camera does', async () => {
    const locked = await fakeApp({ auth: 'on' });
    const { secret } = await locked.apiKeys.create('sender', ['compare']);
    const headers = { authorization: `Bearer ${secret}`, ...JSON_TYPE };
    const ask = (method: 'PUT' | 'DELETE' | 'GET', url: string) =>
      locked.inject({ method, url, headers, ...(method === 'PUT' ? { payload: '{}' } : {}) });
    expect((await ask('PUT', '/v1/cameras/a')).statusCode).toBe(403);
    expect((await ask('DELETE', '/v1/cameras/a')).statusCode).toBe(403);
    expect((await ask('GET', '/v1/cameras')).statusCode).toBe(200);
    await locked.app.close();
  });

  it('only admin sees what follows the path of an address: a token may stand there', async () => {
    const locked = await fakeApp({ auth: 'on' });
    const key = async (scope: 'admin' | 'compare') => ({
      ...JSON_TYPE,
      'x-api-key': (await locked.apiKeys.create(scope, [scope])).secret,
    });
    const [admin, sender] = [await key('admin'), await key('compare')];
    const addresses = {
      snapshot: { url: 'https://cam.example/a.jpg?token=hunter2', interval_s: 60 },
      alerts: { callback_url: 'https://hooks.example/in?key=hunter2' },
    };
    const url = '/v1/cameras/gate';
    const payload = JSON.stringify(addresses);
    const set = await locked.inject({ method: 'PUT', url, headers: admin, payload });
    expect(set.json()).toMatchObject(addresses);
    for (const path of [url, '/v1/cameras']) {
      expect((await locked.inject({ url: path, headers: admin })).body.match(/hunter2/g)).toHaveLength(2);
      const seen = await locked.inject({ url: path, headers: sender });
      expect(seen.body).not.toContain('hunter2');
      expect(seen.json().items?.[0] ?? seen.json()).toMatchObject({
        snapshot: { url: 'https://cam.example/a.jpg', interval_s: 60 },
        alerts: { callback_url: 'https://hooks.example/in' },
      });
    }
    await locked.app.close();
  });
});
