/** PUT, GET and list of /v1/cameras: settings, reference frames, and refused settings. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { advance } from '../../src/camera/changes/advance.js';
import { initialTrackerState } from '../../src/camera/changes/state.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import { observed, RULES, regionAt, START } from '../camera/changes/scenario.js';
import { base64, cameraApi, isBlackRight, PRIVACY, square } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';
import { jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: 50_000 });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put } = cameraApi(() => service);

describe('settings of a camera', () => {
  it('are created, replaced as a whole and read; omitted ones get their defaults', async () => {
    const created = await put('gate-3', { name: 'The gate', before: 'previous' });
    expect(created.statusCode).toBe(201);
    expect(created.json()).toMatchObject({
      id: 'gate-3',
      name: 'The gate',
      before: 'previous',
      zones: [],
      reference: null,
    });
    const again = await put('gate-3', { false_alarms_per_day: 2 });
    expect(again.statusCode).toBe(200);
    // The request replaces all settings, so omitted ones return to their defaults.
    expect(again.json()).toMatchObject({
      name: null,
      before: 'memory',
      false_alarms_per_day: 2,
      reset: ['name', 'before'],
    });
    expect(again.json().created_at).toBe(created.json().created_at);
    const read = (await get('/v1/cameras/gate-3')).json();
    expect(read).toMatchObject({
      false_alarms_per_day: 2,
      status: { frames: 0, waiting: 0, pending: [], last_frame_at: null, snapshot: null },
    });
  });

  it('name those in the answer that were left out and so lost their value', async () => {
    const settings = { name: 'Gate', zones: [PRIVACY], alerts: { persist_s: 5, cooldown_s: 60 } };
    expect((await put('a', settings)).json().reset).toBeUndefined();
    const { json } = await put('a', { name: 'The gate', alerts: { cooldown_s: 30 } });
    expect(json().reset).toEqual(['alerts.persist_s', 'zones']);
    expect((await put('a', { name: null, alerts: { cooldown_s: 30 } })).json().reset).toBeUndefined();
    expect((await put('a', {})).json().reset).toEqual(['alerts']);
    expect((await get('/v1/cameras/a')).json().reset).toBeUndefined();
  });

  it('can be sent back as they were read', async () => {
    const { created_at, updated_at, id, reference, notes, ...settings } = (await put('a', { zones: [PRIVACY] })).json();
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

  it('are read together with the status of the camera', async () => {
    await put('gate', { before: 'memory', false_alarms_per_day: 1 });
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
      backgrounds: { day: plate, dusk: plate },
      tracker: advance(initialTrackerState(), observed(START, { regions: [regionAt(0)] }), RULES).state,
    });
    await service.cameras.saveSnapshot('gate', { at: '2026-06-01T12:00:01.000Z', error: 'url-failed: no' });
    expect((await get('/v1/cameras/gate')).json().status).toEqual({
      frames: 12,
      frozen_since: null,
      signal_lost_since: null,
      lens: null,
      waiting: 0,
      pending: [
        {
          first_seen: '2026-01-05T12:00:00.000Z',
          frames: 1,
          confirm_frames: 2,
          detail: 'a change waits for its confirmation: 1 of 2 frames in a row',
        },
      ],
      last_frame_at: '2026-06-01T12:00:00.000Z',
      interval_s: 5,
      light: 'dusk',
      memory: ['day', 'dusk'],
      // No worker has stated the rates of its bundle.
      threshold: null,
      false_alarms_per_day: null,
      snapshot: { at: '2026-06-01T12:00:01.000Z', error: 'url-failed: no' },
      snapshot_login: false,
    });
  });

  it('start and end the schedule of snapshots', async () => {
    await put('gate', { snapshot: { url: 'https://cam.example/frame.jpg', interval_s: 30 } });
    expect([...service.queue.snapshots]).toEqual([['gate', 30]]);
    await put('gate', {});
    expect(service.queue.snapshots.size).toBe(0);
  });

  it('keep the id of a privacy mask while its polygons are unchanged', async () => {
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
  it('that is damaged is refused, because every comparison with it would fail', async () => {
    const complete = await jpeg(120);
    const reference = base64(complete.subarray(0, complete.length - 60));
    const answer = await put('gate', { before: 'reference', reference });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ field: 'reference' });
    expect(service.blobs.kept.size).toBe(0);
  });

  it('is stored masked, and answered as its hash', async () => {
    const frame = await jpeg(120);
    const answer = await put('gate', { before: 'reference', reference: base64(frame), zones: [PRIVACY] });
    expect(answer.statusCode).toBe(201);
    const { sha256 } = answer.json().reference;
    const kept = service.blobs.kept.get(frameKey(sha256));
    expect(await isBlackRight(kept ?? frame)).toBe(true);
    expect([...service.blobs.kept.values()]).toHaveLength(1);
  });

  it('stays until another one or null is given', async () => {
    const first = (await put('gate', { before: 'reference', reference: base64(await jpeg(120)) })).json().reference;
    expect((await put('gate', { before: 'reference' })).json().reference).toEqual(first);
    expect((await put('gate', { before: 'reference', reference: first })).json().reference).toEqual(first);
    expect((await put('gate', { before: 'reference', reference: null })).json().reference).toBeNull();
  });

  it('must be given again after the privacy zones have changed', async () => {
    const reference = base64(await jpeg(120));
    await put('gate', { before: 'reference', reference });
    const refused = await put('gate', { before: 'reference', zones: [PRIVACY] });
    expect(refused.statusCode).toBe(422);
    expect(refused.json()).toMatchObject({ field: 'reference' });
    expect((await put('gate', { before: 'reference', zones: [PRIVACY], reference })).statusCode).toBe(200);
  });
});

describe('refused settings:', () => {
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
      422,
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
      422,
      'schedule/timezone',
    ],
    ['a false-alarm budget out of its range', { false_alarms_per_day: 100_000 }, 400, 'false_alarms_per_day'],
    ['a private address for snapshots', { snapshot: { url: 'http://10.0.0.1/x', interval_s: 5 } }, 422, 'snapshot/url'],
    ['a private address for alerts', { alerts: { callback_url: 'http://[::1]/x' } }, 422, 'alerts/callback_url'],
    [
      'a reference that is an address',
      { before: 'reference', reference: { url: 'https://a.example/x.jpg' } },
      400,
      'reference',
    ],
    ['alerts suspended until a leap second', { suspend_until: '2016-12-31T23:59:60Z' }, 422, 'suspend_until'],
    ['a reference that is no image', { before: 'reference', reference: 'aGVsbG8=' }, 422, 'reference'],
    [
      'a reference that is not stored',
      { before: 'reference', reference: { sha256: 'a'.repeat(64) } },
      422,
      'reference',
    ],
    ['a reference of another type', { before: 'reference', reference: 7 }, 400, 'reference'],
    ['an array', '[]', 400, undefined],
  ])('%s', async (_what, settings, status, field) => {
    const answer = await put('gate', settings);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().field).toBe(field);
    expect(await service.cameras.get('gate')).toBeUndefined();
  });

  it.each(['http://admin:hunter2@10.0.0.8/', 'rtsp://admin:hunter2@10.0.0.8/', 'http://10.0.0.8/?hunter2'])(
    'an address, without repeating its password: %s',
    async (url) => {
      for (const settings of [{ snapshot: { url, interval_s: 60 } }, { alerts: { rules: [], callback_url: url } }]) {
        const answer = await put('gate', settings);
        expect([400, 422]).toContain(answer.statusCode);
        expect(answer.body).not.toContain('hunter2');
      }
    },
  );

  it('an id with a space; an unknown id is a 404', async () => {
    expect((await put('a%20b', {})).statusCode).toBe(400);
    expect((await get('/v1/cameras/nowhere')).statusCode).toBe(404);
  });
});
