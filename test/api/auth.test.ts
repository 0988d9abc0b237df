import { linkKey, signLink } from '../../src/secrets/links.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let unlimited: typeof fake;
let secret: string;
let body: ReturnType<typeof form>;
let now = 1_800_000_000_000;

beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 3 }, { clock: () => now });
  unlimited = await fakeApp({ auth: 'on', rateLimit: 0 }, { clock: () => now });
  body = form({ before: await jpeg(10), after: await jpeg(200) });
});
beforeEach(async () => {
  fake.reset();
  now += 3_600_000;
  fake.apiKeys.keys.clear();
});
afterAll(() => Promise.all([fake, unlimited].map(({ app }) => app.close())));

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const async = { prefer: 'respond-async' };

describe('With AUTH on', () => {
  it('explains how to create a key while there is none', async () => {
    const answer = await fake.inject(post(body));
    expect(answer.statusCode).toBe(401);
    expect(answer.json().detail).toContain('`scenedelta keys create`');
    expect(answer.headers['www-authenticate']).toContain('Bearer');
  });

  it('accepts a key as Bearer or as X-API-Key', async () => {
    ({ secret } = await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] }));
    expect((await fake.inject(post(body, { ...async, ...bearer(secret) }))).statusCode).toBe(202);
    expect((await fake.inject(post(body, { ...async, 'x-api-key': secret }))).statusCode).toBe(202);
    expect(fake.queuedRequest()?.apiKeyId).toMatch(/^key_/);
  });

  it.each([
    ['no key', {}],
    ['an unknown key', bearer('sd_unknown')],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['a bare word', { authorization: 'Bearer' }],
  ])('refuses %s with 401', async (_name, headers) => {
    await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] });
    const answer = await fake.inject(post(body, headers));
    expect(answer.statusCode).toBe(401);
    expect(answer.json().detail).not.toContain('keys create');
  });

  it('calls a key with spaces unknown, and not missing', async () => {
    await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] });
    const answer = await fake.inject(post(body, bearer('not a key')));
    expect([answer.statusCode, answer.json().detail]).toEqual([401, 'The API key is unknown or has been revoked']);
  });

  it('refuses a revoked key', async () => {
    const made = await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] });
    await fake.apiKeys.revoke(made.key.id);
    await fake.apiKeys.create({ name: 'other', scopes: ['compare'] });
    expect((await fake.inject({ url: '/v1/models', headers: bearer(made.secret) })).statusCode).toBe(401);
  });

  it('refuses a key without the scope with 403, naming both; admin includes every scope', async () => {
    const { secret } = await fake.apiKeys.create({ name: 'dashboard', scopes: ['compare'] });
    const answer = await fake.inject({ method: 'DELETE', url: '/v1/cameras/gate', headers: bearer(secret) });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      403,
      'The key "dashboard" has the scopes compare, expected admin',
    ]);
    const admin = await fake.apiKeys.create({ name: 'root', scopes: ['admin'] });
    expect((await fake.inject({ url: '/v1/models', headers: bearer(admin.secret) })).statusCode).toBe(200);
  });

  it('requires a key on every route under /v1, and on none of the probes', async () => {
    await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] });
    const document = fake.app.swagger() as { paths: Record<string, object> };
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        const url = path
          .replace('{id}', 'cmp_01k9x3v5s8q2m7c4w6n1b0t9hz')
          .replace('{side}', 'before')
          .replace('{name}', 'x');
        const answer = await unlimited.app.inject({ method: method.toUpperCase() as 'GET', url });
        expect([path, method, answer.statusCode === 401]).toEqual([path, method, path.startsWith('/v1')]);
      }
    }
  });
});

describe('Rate limit', () => {
  it('reports the remaining quota, refuses further requests, and restarts with the next window', async () => {
    ({ secret } = await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] }));
    const ask = () => fake.inject({ url: '/v1/models', headers: bearer(secret) });
    const left: unknown[] = [];
    for (let i = 0; i < 3; i++) left.push((await ask()).headers.ratelimit);
    expect(left).toEqual(['"default";r=2;t=60', '"default";r=1;t=60', '"default";r=0;t=60']);
    now += 20_000;
    const refused = await ask();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': '"default";q=3;w=60',
      ratelimit: '"default";r=0;t=40',
      'retry-after': '40',
    });
    now += 40_000;
    expect((await ask()).statusCode).toBe(200);
  });

  it('counts each key separately', async () => {
    const keys = [
      await fake.apiKeys.create({ name: 'a', scopes: ['compare'] }),
      await fake.apiKeys.create({ name: 'b', scopes: ['compare'] }),
    ];
    for (let i = 0; i < 3; i++) {
      for (const key of keys) {
        expect((await fake.inject({ url: '/v1/models', headers: bearer(key.secret) })).statusCode).toBe(200);
      }
    }
  });
});

describe('Signed links', () => {
  const accepted = async () => {
    ({ secret } = await fake.apiKeys.create({ name: 'cam', scopes: ['compare'] }));
    const answer = await fake.inject(post(body, { ...async, ...bearer(secret) }));
    const { frames } = answer.json();
    return new URL(frames.before.url);
  };

  it('open the frame without a key until they expire', async () => {
    const { pathname, search } = await accepted();
    const answer = await fake.inject({ url: pathname + search });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/jpeg']);
    now += 3_601_000;
    expect((await fake.inject({ url: pathname + search })).statusCode).toBe(401);
  });

  it('open nothing else', async () => {
    const { pathname, search } = await accepted();
    const others = [
      pathname.replace('before', 'after') + search,
      `${pathname}${search.replace(/exp=(\d+)/, (_all, exp) => `exp=${Number(exp) + 1}`)}`,
      // Every other last character, including the ones that decode to the same bytes.
      ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
        .split('')
        .filter((character) => !search.endsWith(character))
        .map((character) => pathname + search.slice(0, -1) + character),
      pathname.replace(/frames.*/, 'deliveries') + search,
      signLink(pathname, { key: linkKey('whsec_another'), expiresAt: now + 1000 }),
    ];
    for (const url of others) expect([url, (await unlimited.inject({ url })).statusCode]).toEqual([url, 401]);
  });
});
