/** Sessions of browsers: signing in with a key or a token, the cookie in place of the key, and forged requests. */
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let now = 1_800_000_000_000;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on' }, { clock: () => now });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

const HALF_HOUR_MS = 30 * 60_000;
const TWELVE_HOURS_MS = 12 * 3_600_000;
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const newKey = (scopes: ('judge' | 'compare' | 'admin' | 'metrics')[] = ['compare', 'admin']) =>
  fake.apiKeys.create({ name: 'desk', scopes, cameras: ['*'] });
const signIn = (secret: string) => fake.inject({ method: 'POST', url: '/v1/session', headers: bearer(secret) });
const cookieOf = (answer: Awaited<ReturnType<typeof signIn>>) =>
  String(answer.headers['set-cookie']).split(';')[0] ?? '';
const CSRF = { 'x-csrf-protection': '1' };

describe('Signing in', () => {
  it('with a key sets a cookie that scripts and other sites cannot use, and says what the key may do', async () => {
    const { secret } = await newKey();
    const answer = await signIn(secret);
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['set-cookie']).toMatch(/^scenedelta_session=\S+; Expires=.+; HttpOnly; SameSite=Strict$/);
    expect(String(answer.headers['set-cookie'])).not.toContain(secret);
    expect(answer.json()).toMatchObject({
      key: { name: 'desk', scopes: ['compare', 'admin'], cameras: ['*'] },
      admin: true,
      expires_at: new Date(now + TWELVE_HOURS_MS).toISOString(),
      limits: { frame_bytes: 20 * 1024 * 1024, body_bytes: 48 * 1024 * 1024 },
    });
  });

  it.each([
    ['a browser that came by TLS', 'http://10.0.0.2:8080', 'https://cameras.example', true],
    ['a browser in the local network', 'https://cameras.example', 'http://10.0.0.2:8080', false],
    ['a page of no origin', 'https://cameras.example', 'null', false],
    ['another client, with PUBLIC_URL of TLS', 'https://cameras.example', undefined, true],
    ['another client, with PUBLIC_URL without TLS', 'http://10.0.0.2:8080', undefined, false],
    ['another client, without PUBLIC_URL', null, undefined, false],
  ])('marks the cookie as secure for %s', async (_, publicUrl, origin, secure) => {
    const { app, inject, apiKeys } = await fakeApp({ auth: 'on', publicUrl });
    const { secret } = await apiKeys.create({ name: 'desk', scopes: ['compare'] });
    const headers = { ...bearer(secret), ...(origin === undefined ? {} : { origin }) };
    const answer = await inject({ method: 'POST', url: '/v1/session', headers });
    expect(String(answer.headers['set-cookie']).includes('; Secure;')).toBe(secure);
    await app.close();
  });

  it.each(['sd_unknown', 'a.1.b'])('with %s is refused', async (secret) => {
    await newKey();
    const answer = await signIn(secret);
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([401, undefined]);
  });

  it('is not needed without AUTH', async () => {
    const { app, inject } = await fakeApp({ auth: 'off' });
    expect((await inject({ url: '/v1/session' })).json()).toMatchObject({ key: null, admin: true, expires_at: null });
    await app.close();
  });

  it('by a token of POST /v1/session/token works once, within thirty minutes, and the token opens nothing else', async () => {
    const { secret } = await newKey();
    const made = await fake.inject({ method: 'POST', url: '/v1/session/token', headers: bearer(secret) });
    const { token, expires_at } = made.json();
    expect([made.statusCode, Date.parse(expires_at)]).toEqual([201, now + HALF_HOUR_MS]);
    expect((await signIn(token)).statusCode).toBe(201);
    for (const [method, url] of [
      ['GET', '/v1/cameras'],
      ['POST', '/v1/session/token'],
      ['POST', '/v1/events/token'],
      ['GET', '/v1/session'],
    ] as const) {
      const answer = await fake.inject({ method, url, headers: bearer(token) });
      expect([url, answer.statusCode]).toEqual([url, 401]);
    }
    expect((await signIn(token)).statusCode).toBe(401);
    const late = await fake.inject({ method: 'POST', url: '/v1/session/token', headers: bearer(secret) });
    now += HALF_HOUR_MS;
    expect((await signIn(late.json().token)).statusCode).toBe(401);
  });
});

describe('A session', () => {
  it('replaces the key until it expires or its key is revoked', async () => {
    const { secret, key } = await newKey();
    const cookie = cookieOf(await signIn(secret));
    const get = async () => (await fake.inject({ url: '/v1/cameras', headers: { cookie } })).statusCode;
    expect(await get()).toBe(200);
    now += TWELVE_HOURS_MS - 1;
    expect(await get()).toBe(200);
    now += 1;
    expect(await get()).toBe(401);
    const again = cookieOf(await signIn(secret));
    await fake.apiKeys.revoke(key.id);
    expect((await fake.inject({ url: '/v1/cameras', headers: { cookie: again } })).statusCode).toBe(401);
  });

  it('has the scopes of its key', async () => {
    const { secret } = await newKey(['compare']);
    const headers = { cookie: cookieOf(await signIn(secret)), ...CSRF };
    const put = { method: 'PUT', url: '/v1/cameras/gate', headers, payload: {} } as const;
    expect((await fake.inject(put)).statusCode).toBe(403);
  });

  it('alters nothing without the header that other sites cannot send', async () => {
    const { secret } = await newKey();
    const cookie = cookieOf(await signIn(secret));
    for (const [method, url] of [
      ['PUT', '/v1/cameras/gate'],
      ['DELETE', '/v1/cameras/gate'],
      ['POST', '/v1/comparisons'],
      ['DELETE', '/v1/session'],
    ] as const) {
      const answer = await fake.inject({ method, url, headers: { cookie } });
      expect([url, answer.statusCode, answer.json().detail]).toEqual([
        url,
        403,
        expect.stringContaining('X-CSRF-Protection'),
      ]);
    }
    const put = { method: 'PUT', url: '/v1/cameras/gate', headers: { cookie, ...CSRF }, payload: {} } as const;
    expect((await fake.inject(put)).statusCode).toBe(201);
  });

  it('does not prolong itself', async () => {
    const { secret } = await newKey();
    const headers = { cookie: cookieOf(await signIn(secret)), ...CSRF };
    expect((await fake.inject({ method: 'POST', url: '/v1/session', headers })).statusCode).toBe(401);
  });

  it('signs in another device by a token that works once, within five minutes', async () => {
    const { secret, key } = await newKey(['judge']);
    const headers = { cookie: cookieOf(await signIn(secret)), ...CSRF };
    const link = () => fake.inject({ method: 'POST', url: '/v1/session/token', headers });
    const { token, expires_at } = (await link()).json();
    expect(Date.parse(expires_at)).toBe(now + 5 * 60_000);
    expect((await fake.inject({ url: '/v1/cameras', headers: bearer(token) })).statusCode).toBe(401);
    const signedIn = await signIn(token);
    expect([signedIn.statusCode, signedIn.json()]).toEqual([
      201,
      expect.objectContaining({ role: 'guard', scopes: ['read', 'judge'], may_link: false, admin: false }),
    ]);
    expect((await signIn(token)).statusCode).toBe(401);
    const late = (await link()).json().token;
    now += 5 * 60_000;
    expect((await signIn(late)).statusCode).toBe(401);
    const ofDevice = { cookie: cookieOf(signedIn) };
    const read = await fake.inject({ url: '/v1/session', headers: ofDevice });
    expect(read.json()).toMatchObject({ may_link: false, expires_at: signedIn.json().expires_at });
    await fake.apiKeys.revoke(key.id);
    expect((await fake.inject({ url: '/v1/session', headers: ofDevice })).statusCode).toBe(401);
  });

  it('of another device signs in no further one, so that no chain of links outlives the first session', async () => {
    const { secret } = await newKey();
    const headers = { cookie: cookieOf(await signIn(secret)), ...CSRF };
    const { token } = (await fake.inject({ method: 'POST', url: '/v1/session/token', headers })).json();
    const ofDevice = { cookie: cookieOf(await signIn(token)), ...CSRF };
    const refused = await fake.inject({ method: 'POST', url: '/v1/session/token', headers: ofDevice });
    expect([refused.statusCode, refused.json().detail]).toEqual([403, expect.stringContaining('another device')]);
    const signedOut = await fake.inject({ method: 'DELETE', url: '/v1/session', headers: ofDevice });
    expect(signedOut.statusCode).toBe(204);
    expect((await fake.inject({ url: '/v1/cameras', headers: ofDevice })).statusCode).toBe(401);
    expect((await fake.inject({ url: '/v1/cameras', headers })).statusCode).toBe(200);
  });

  it('is no event token, and an event token is no session', async () => {
    const { secret } = await newKey();
    const cookie = cookieOf(await signIn(secret));
    const token = cookie.split('=')[1] ?? '';
    expect((await fake.inject({ url: `/v1/events?access_token=${token}` })).statusCode).toBe(401);
    const made = await fake.inject({ method: 'POST', url: '/v1/events/token', headers: bearer(secret) });
    const forged = { cookie: `scenedelta_session=${made.json().token}` };
    expect((await fake.inject({ url: '/v1/cameras', headers: forged })).statusCode).toBe(401);
  });

  it('ends by signing out, in copies of its cookie too, and no other session of the key does', async () => {
    const { secret } = await newKey();
    const other = { cookie: cookieOf(await signIn(secret)) };
    const headers = { cookie: cookieOf(await signIn(secret)), ...CSRF };
    const answer = await fake.inject({ method: 'DELETE', url: '/v1/session', headers });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([
      204,
      expect.stringMatching(/^scenedelta_session=; .*Expires=Thu, 01 Jan 1970/),
    ]);
    const statuses = [headers, other].map(async (sent) => {
      return (await fake.inject({ url: '/v1/cameras', headers: sent })).statusCode;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200]);
  });
});
