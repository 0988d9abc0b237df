/** Pages in browsers: event tokens in place of keys, and cross-origin requests. */
import { Writable } from 'node:stream';
import { createLogger } from '../../src/process/logger.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let now = 1_800_000_000_000;
let log = '';
const ORIGIN = 'https://dashboard.example';

beforeAll(async () => {
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      log += chunk;
      done();
    },
  });
  fake = await fakeApp(
    { auth: 'on', corsOrigins: [ORIGIN] },
    { clock: () => now },
    createLogger({ level: 'trace', name: 'test' }, destination),
  );
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
  log = '';
});
afterAll(() => fake.app.close());

const keyOf = (owner: string) => fake.apiKeys.create({ name: owner, scopes: ['compare'], owner });
const tokenOf = async (secret: string) => {
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await fake.inject({ method: 'POST', url: '/v1/events/token', headers });
  expect([answer.statusCode, answer.headers['cache-control']]).toEqual([201, 'no-store']);
  return answer.json() as { token: string; expires_at: string };
};
/** A comparison that has ended, so that its stream ends too. */
const endedComparison = async (owner: string) => {
  const stored = acceptedComparison({ owner });
  await fake.results.create(stored);
  await fake.results.update(stored.comparison.id, { comparison: finished(stored.comparison) });
  return `/v1/comparisons/${stored.comparison.id}`;
};

describe('An event token', () => {
  it('opens streams with the access of its key, until it expires', async () => {
    const { secret } = await keyOf('police');
    const [granted, other] = [await endedComparison('police'), await endedComparison('others')];
    const { token, expires_at } = await tokenOf(secret);
    const watch = (path: string) => fake.inject({ url: `${path}/events?access_token=${token}` });
    expect(Date.parse(expires_at)).toBe(now + 5 * 60_000);
    expect((await watch(granted)).body).toContain('event: comparison.finished');
    expect((await watch(other)).statusCode).toBe(404);
    now = Date.parse(expires_at) - 1;
    expect((await watch(granted)).statusCode).toBe(200);
    now += 1;
    expect((await watch(granted)).statusCode).toBe(401);
  });

  it('ends with its key, and is not the token of another key', async () => {
    const { secret, key } = await keyOf('police');
    const granted = await endedComparison('police');
    const { token } = await tokenOf(secret);
    const other = await keyOf('others');
    for (const wrong of [token.replace(key.id, other.key.id), `${token}A`, token.slice(1), '', 'a&access_token=b']) {
      const answer = await fake.inject({ url: `${granted}/events?access_token=${wrong}` });
      expect([wrong, answer.statusCode]).toEqual([wrong, 401]);
    }
    await fake.apiKeys.revoke(key.id);
    expect((await fake.inject({ url: `${granted}/events?access_token=${token}` })).statusCode).toBe(401);
  });

  it('opens nothing but streams, and makes no further token', async () => {
    const { secret } = await keyOf('police');
    const granted = await endedComparison('police');
    const { token } = await tokenOf(secret);
    for (const [method, url] of [
      ['GET', granted],
      ['GET', '/v1/comparisons'],
      ['POST', '/v1/events/token'],
      ['GET', `${granted}/frames/before`],
    ] as const) {
      const answer = await fake.inject({ method, url: `${url}?access_token=${token}` });
      expect([url, answer.statusCode]).toEqual([url, 401]);
    }
  });

  it('is not in the log, of an accepted or a refused request', async () => {
    const { secret } = await keyOf('police');
    const granted = await endedComparison('police');
    const { token } = await tokenOf(secret);
    await fake.inject({ url: `${granted}/events?access_token=${token}` });
    await fake.inject({ url: `/v1/events?camera=&access_token=${token}` });
    now += 10 * 60_000;
    await fake.inject({ url: `${granted}/events?access_token=${token}` });
    expect(log).toContain('"status":401');
    expect(log).not.toContain(token.slice(-43));
  });
});

describe('A cross-origin request', () => {
  const ask = async (origin: string, method: 'GET' | 'OPTIONS' = 'GET') => {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    };
    const headers = { origin, ...(method === 'OPTIONS' ? preflight : {}) };
    return fake.app.inject({ method, url: '/v1/comparisons', headers });
  };

  it('of a listed origin is allowed, its preflight without a key', async () => {
    const preflight = await ask(ORIGIN, 'OPTIONS');
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': expect.stringContaining('DELETE'),
      'access-control-allow-headers': 'authorization,content-type,idempotency-key',
    });
    const answer = await ask(ORIGIN);
    // The page can read the problem, too.
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([401, ORIGIN]);
    expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('of another origin, or without CORS_ORIGINS, is not', async () => {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { headers } = await ask('https://evil.example', method);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    const closed = await fakeApp({ auth: 'on' });
    const { headers } = await closed.inject({ url: '/v1/models', headers: { origin: ORIGIN } });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    await closed.app.close();
  });
});
