/** The login of a camera's snapshot address: given once, kept encrypted, shown nowhere. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loginContext, openLogin } from '../../src/secrets/login.js';
import { cameraApi } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp();
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put } = cameraApi(() => service);

const ADDRESS = 'http://camera.example/snap.jpg?channel=1';
const snapshot = (change: object = {}) => ({ snapshot: { url: ADDRESS, interval_s: 5, ...change } });
const LOGIN = { username: 'viewer', password: 'geheim"1' };
const stored = (id = 'gate') => service.cameras.kept.get(id);
const loginOf = (id = 'gate') => {
  const camera = stored(id);
  if (camera?.login === undefined) return null;
  const url = camera.settings.snapshot?.url ?? '';
  return openLogin(camera.login, Buffer.alloc(32, 1), loginContext(id, url));
};

describe("a login of a camera's snapshot", () => {
  it.each([
    ['in its own fields', snapshot(LOGIN)],
    ['in the address', snapshot({ url: 'http://viewer:geheim%221@camera.example/snap.jpg?channel=1' })],
  ])('%s is kept encrypted and shown nowhere', async (_where, settings) => {
    const answers = [await put('gate', settings), await get('/v1/cameras/gate'), await get('/v1/cameras')];
    for (const { statusCode, body } of answers) {
      expect(statusCode).toBeLessThan(300);
      expect(body).not.toMatch(/viewer|geheim|"login"|v1\./);
      expect(body).toContain(ADDRESS);
    }
    expect(answers[1]?.json().status.snapshot_login).toBe(true);
    expect(JSON.stringify(stored())).not.toMatch(/viewer|geheim/);
    expect(loginOf()).toEqual(LOGIN);
  });

  it('in an RTSP address is taken out of it as well, and belongs to its origin', async () => {
    const url = 'rtsp://camera.example:8554/stream?channel=1';
    expect((await put('gate', snapshot({ url: url.replace('//', '//viewer:geheim%221@') }))).statusCode).toBe(201);
    expect(stored()?.settings.snapshot?.url).toBe(url);
    expect(loginOf()).toEqual(LOGIN);
    const other = await put('gate', snapshot({ url: url.replace('rtsp', 'rtsps') }));
    expect(other.json().detail).toMatch(/another origin: expected user name and password once more/);
  });

  it('stays if a later request omits it, or only the password', async () => {
    await put('gate', snapshot(LOGIN));
    for (const later of [snapshot(), snapshot({ username: 'viewer' }), snapshot({ interval_s: 60 })]) {
      expect((await put('gate', later)).statusCode).toBe(200);
      expect(loginOf()).toEqual(LOGIN);
    }
    await put('gate', snapshot({ url: 'http://camera.example/other.jpg' }));
    expect(loginOf()).toEqual(LOGIN);
  });

  it('gets a new password without its user name', async () => {
    await put('gate', snapshot(LOGIN));
    await put('gate', snapshot({ password: 'new' }));
    expect(loginOf()).toEqual({ username: 'viewer', password: 'new' });
  });

  it('is removed by an empty user name, and with the snapshot', async () => {
    await put('gate', snapshot(LOGIN));
    await put('gate', snapshot({ username: '' }));
    expect(loginOf()).toBeNull();
    expect((await get('/v1/cameras/gate')).json().status.snapshot_login).toBe(false);
    await put('gate', snapshot(LOGIN));
    await put('gate', {});
    await put('gate', snapshot());
    expect(loginOf()).toBeNull();
  });

  it.each([
    ['another host', 'http://other.example/snap.jpg'],
    ['another port', 'http://camera.example:8080/snap.jpg'],
    ['another scheme', 'https://camera.example/snap.jpg'],
  ])('is not sent to %s: the password is expected once more', async (_what, url) => {
    await put('gate', snapshot(LOGIN));
    for (const part of [{}, { username: 'viewer' }, { password: 'x' }]) {
      const refused = await put('gate', snapshot({ url, ...part }));
      expect(refused.statusCode).toBe(422);
      expect(refused.json().detail).toMatch(/another origin: expected user name and password once more/);
    }
    expect(stored()?.settings.snapshot?.url).toBe(ADDRESS);
    expect((await put('gate', snapshot({ url, ...LOGIN }))).statusCode).toBe(200);
    expect(loginOf()).toEqual(LOGIN);
  });

  it.each([
    ['without a password', { username: 'viewer' }, 'snapshot/password'],
    ['without a user name', { password: 'geheim' }, 'snapshot/username'],
    ['twice', { url: 'http://a:geheim@camera.example/', ...LOGIN }, 'snapshot/url'],
    ['with a password that is no text', { username: 'viewer', password: 4711 }, 'snapshot/password'],
    ['with a password that is too long', { username: 'a', password: 'geheim'.repeat(50) }, 'snapshot/password'],
    ['at a private address', { url: 'http://viewer:geheim@10.0.0.8/' }, 'snapshot/url'],
    ['at a private RTSP address', { url: 'rtsp://viewer:geheim@0x0a.8/' }, 'snapshot/url'],
    ['at an address of another protocol', { url: 'rtmp://viewer:geheim@camera.example/' }, 'snapshot/url'],
    ['in an address that cannot be read', { url: 'http://viewer:geheim@:99999/' }, 'snapshot/url'],
  ])('%s is refused, and the answer does not show it', async (_what, change, field) => {
    const refused = await put('gate', snapshot(change));
    expect(refused.statusCode).toBeGreaterThanOrEqual(400);
    expect(refused.json().field).toBe(field);
    expect(refused.body).not.toMatch(/geheim|4711/);
    expect(stored()).toBeUndefined();
  });
});
