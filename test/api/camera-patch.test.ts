/** PATCH of /v1/cameras/{id} (JSON merge patch, RFC 7396), and the test of an address before it is set. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mergePatch } from '../../src/api/cameras/merge-patch.js';
import { loginContext, openLogin } from '../../src/secrets/login.js';
import { cameraApi, PRIVACY } from '../helpers/camera-api.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ outboundAllow: ['192.168.7.0/24'] });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put } = cameraApi(() => service);
const send = (method: 'PATCH' | 'POST', url: string, body: unknown, type: string) =>
  service.inject({ method, url, payload: JSON.stringify(body), headers: { 'content-type': type } });
const patch = (body: unknown, type = 'application/merge-patch+json') => send('PATCH', '/v1/cameras/gate', body, type);
const tryAddress = (body: object) => send('POST', '/v1/cameras/gate/test-snapshot', body, 'application/json');
const KEY = Buffer.alloc(32, 1);
const ADDRESS = 'http://192.168.7.3/snap.jpg';
const SNAPSHOT = { url: ADDRESS, interval_s: 5 };
const LOGIN = { username: 'viewer', password: 'geheim' };

// The examples of appendix A of RFC 7396.
it.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('a merge patch of %j by %j gives %j', (target, given, merged) => {
  expect(mergePatch(target, given)).toEqual(merged);
});

it.each([88, 81, 554])('a camera at port %i is accepted in an allowed network, and refused elsewhere', async (port) => {
  const snapshot = (host: string) => ({ snapshot: { url: `http://${host}:${port}/snap.jpg`, interval_s: 5 } });
  expect((await put('gate', snapshot('192.168.7.3'))).statusCode).toBe(201);
  const refused = await put('yard', snapshot('8.8.8.8'));
  expect([refused.statusCode, refused.json().detail]).toEqual([422, expect.stringContaining(`port ${port}`)]);
});

describe('a snapshot on a signal', () => {
  const signal = (headers = {}) => service.inject({ method: 'POST', url: '/v1/cameras/gate/snapshot', headers });

  it('asks a worker for a frame, and answers with its comparison', async () => {
    await put('gate', { snapshot: SNAPSHOT });
    const accepted = acceptedComparison({ camera: 'gate' });
    await service.results.create({ ...accepted, comparison: { ...accepted.comparison, status: 'finished' } });
    service.questions.answer = accepted.comparison.id;
    const answer = await signal({ prefer: 'wait=5' });
    expect([answer.statusCode, answer.json().id]).toEqual([200, service.questions.answer]);
    expect(service.questions.asked).toEqual([{ kind: 'pull', camera: 'gate' }]);
  });

  it('is refused without an address', async () => {
    await put('gate', {});
    expect([(await signal()).statusCode, service.questions.asked]).toEqual([422, []]);
  });
});

describe('a patch of a camera', () => {
  it('takes a preset in place of the rules, and answers with it and with what keeps it from alerting', async () => {
    await put('gate', { alerts: { severity_rules: [{ kind: 'move', severity: 'high' }], cooldown_s: 60 } });
    const { preset, notes, alerts } = (
      await patch({ preset: 'nothing', suspend_until: '2999-01-01T00:00:00Z' })
    ).json();
    expect([preset, alerts.cooldown_s, alerts.severity_rules.at(-1)]).toEqual(['nothing', 60, { severity: 'info' }]);
    expect(notes.map(({ field }: { field: string }) => field)).toEqual([
      'alerts.severity_rules',
      'suspend_until',
      'alerts.callback_url',
    ]);
    expect((await get('/v1/cameras/gate')).json()).toMatchObject({ preset: 'nothing' });
    const refused = await patch({ preset: 'people', alerts: { min_severity: 'high' } });
    expect([refused.statusCode, refused.json().field]).toEqual([422, 'preset']);
  });

  it('changes the named settings alone, at any depth; null sets a default', async () => {
    const others = { before: 'previous', zones: [PRIVACY], gap_s: 77 };
    const settings = { name: 'Gate', ...others, alerts: { persist_s: 5, cooldown_s: 60 } };
    const before = (await put('gate', settings)).json();
    const answer = await patch({ name: null, alerts: { persist_s: 9 } });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      ...before,
      ...{ name: null, alerts: { ...before.alerts, persist_s: 9 }, updated_at: expect.any(String) },
    });
    expect((await patch({ alerts: { persist_s: null }, gap_s: null }, 'application/json')).json()).toMatchObject({
      alerts: { persist_s: 0, cooldown_s: 60 },
      gap_s: (await put('other', {})).json().gap_s,
      zones: [expect.objectContaining({ id: PRIVACY.id })],
    });
  });

  it('keeps the login, the reference and the schedule of snapshots, until it names them', async () => {
    await put('gate', { snapshot: { ...SNAPSHOT, ...LOGIN } });
    await patch({ name: 'Gate', snapshot: { interval_s: 60 } });
    expect([...service.queue.snapshots]).toEqual([['gate', 60]]);
    const loginOf = () => service.cameras.kept.get('gate')?.login;
    expect(openLogin(loginOf() ?? '', KEY, loginContext('gate', ADDRESS))).toEqual(LOGIN);
    await patch({ snapshot: { username: null } });
    expect(loginOf()).toBeUndefined();
    expect((await patch({ snapshot: null })).json().snapshot).toBeNull();
    expect(service.queue.snapshots.size).toBe(0);
  });

  it('is refused with the reason, and then changes nothing', async () => {
    expect((await patch({ name: 'Gate' })).statusCode).toBe(404);
    await put('gate', { threshold: 0.9 });
    const before = (await get('/v1/cameras/gate')).json();
    for (const [body, status, detail] of [
      [[1], 400, 'expected a JSON object'],
      [{ colour: 'red' }, 400, 'colour'],
      [{ alerts: { confirm_frames: 0 } }, 400, 'confirm_frames'],
      [{ false_alarms_per_day: 2 }, 422, 'beside threshold'],
      [{ alarms_per_day: 2 }, 400, 'alarms_per_day is gone: its name is false_alarms_per_day'],
      [{ snapshot: {} }, 422, 'snapshot/url'],
      [{ snapshot: { url: 'http://127.0.0.1/a.jpg', interval_s: 5 } }, 422, 'OUTBOUND_ALLOW'],
    ] as const) {
      const answer = await patch(body);
      expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.stringContaining(detail)]);
    }
    expect((await patch({}, 'text/plain')).statusCode).toBe(415);
    expect((await get('/v1/cameras/gate')).json()).toEqual(before);
    const other = await send('POST', '/v1/comparisons', {}, 'application/merge-patch+json');
    expect(other.statusCode).toBe(415);
  });
});

describe('the test of an address', () => {
  const PICTURE = { at: '2026-06-01T12:00:00.000Z', bytes: 9, width: 640, height: 360, picture: '/9j/' };
  const asked = () => service.questions.asked[0] as unknown as { url: string; login?: string };

  it('asks a worker, with the login encrypted, and answers with the picture', async () => {
    service.questions.answer = PICTURE;
    const answer = await tryAddress({ url: ADDRESS, ...LOGIN });
    expect([answer.statusCode, answer.json()]).toEqual([200, PICTURE]);
    const login = expect.any(String);
    expect(asked()).toEqual({ kind: 'snapshot', camera: 'gate', url: ADDRESS, certificate: null, login });
    expect(openLogin(asked().login ?? '', KEY, loginContext('gate', ADDRESS))).toEqual(LOGIN);
    expect(service.cameras.kept.size).toBe(0);
  });

  it('uses the stored login at its origin, and nowhere else', async () => {
    await put('gate', { snapshot: { ...SNAPSHOT, ...LOGIN } });
    service.questions.answer = PICTURE;
    await tryAddress({ url: 'http://192.168.7.3/other.jpg' });
    expect(openLogin(asked().login ?? '', KEY, loginContext('gate', ADDRESS))).toEqual(LOGIN);
    const elsewhere = await tryAddress({ url: 'http://192.168.7.4/snap.jpg' });
    expect([elsewhere.statusCode, elsewhere.json().detail]).toEqual([422, expect.stringContaining('another origin')]);
  });

  it('names a private address, and the setting that allows it, before a worker is asked', async () => {
    const answer = await tryAddress({ url: 'rtsp://10.0.0.7/stream' });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ field: 'url', detail: expect.stringContaining('OUTBOUND_ALLOW') });
    expect(service.questions.asked).toEqual([]);
    expect((await tryAddress({ url: 'file:///etc/passwd' })).statusCode).toBe(400);
    expect((await tryAddress({ url: ADDRESS })).json().detail).toContain('No worker answered');
  });
});

describe('a patch of several cameras', () => {
  const patchAll = (body: unknown) => send('PATCH', '/v1/cameras', body, 'application/json');

  it('changes all of them, which a list then finds by a label', async () => {
    for (const id of ['a', 'b', 'c']) await put(id, { name: id, labels: ['old'] });
    const answer = await patchAll({ cameras: ['c', 'a'], patch: { labels: ['north', 'dock 2'], gap_s: 90 } });
    expect(answer.statusCode).toBe(200);
    expect(answer.json().items).toMatchObject([
      { id: 'c', name: 'c', labels: ['north', 'dock 2'], gap_s: 90 },
      { id: 'a', name: 'a', labels: ['north', 'dock 2'], gap_s: 90 },
    ]);
    const idsWith = async (query: string) =>
      (await get(`/v1/cameras?${query}`)).json().items.map(({ id }: { id: string }) => id);
    expect(await idsWith('label=dock%202')).toEqual(['a', 'c']);
    expect(await idsWith('label=old&sort=state')).toEqual(['b']);
    expect(await idsWith('label=nort')).toEqual([]);
  });

  it.each([
    [{ cameras: ['a', 'nowhere'], patch: { gap_s: 90 } }, 404, undefined],
    [{ cameras: ['b', 'a'], patch: { alerts: { confirm_frames: 0 } } }, 400, 'alerts/confirm_frames'],
    [{ cameras: ['a', 'b'], patch: { labels: [' '] } }, 400, 'labels/0'],
    [{ cameras: ['a', 'a'], patch: {} }, 400, 'cameras'],
    [{ cameras: ['a'] }, 400, 'patch'],
  ])('that is %j is refused with %i, and none changes', async (body, status, field) => {
    for (const id of ['a', 'b']) await put(id, { gap_s: 77 });
    const answer = await patchAll(body);
    expect([answer.statusCode, answer.json().field]).toEqual([status, field]);
    for (const id of ['a', 'b']) expect((await get(`/v1/cameras/${id}`)).json().gap_s).toBe(77);
  });
});
