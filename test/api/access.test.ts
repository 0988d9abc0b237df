/** Access of API keys to data and routes. */

import { readFileSync } from 'node:fs';
import { linkKey, signLink } from '../../src/secrets/links.js';
import { ROLE_NAMES, ROLES, type Role, type Scope } from '../../src/stores/redis/scopes.js';
import { changeEvent, foundChange, storedChange } from '../helpers/changes.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0, metricsAuth: true });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

type Headers = Record<string, string>;
const keyWith = async (given: { owner?: string; cameras?: string[]; admin?: true } = {}): Promise<Headers> => {
  const { admin, ...rest } = given;
  const scopes: Scope[] = admin ? ['admin'] : ['compare', 'judge'];
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes, ...rest });
  return { authorization: `Bearer ${secret}` };
};
const JSON_TYPE = { 'content-type': 'application/json' };
const send = async (headers: Headers, fields: Record<string, string> = {}, url = '/v1/comparisons') => {
  const frames = url === '/v1/comparisons' ? { before: await jpeg(), after: await jpeg(9) } : { frame: await jpeg() };
  return fake.inject({
    ...post(form({ ...frames, ...fields }), { prefer: 'respond-async', ...headers }),
    url,
  });
};
const setUp = async (id: string) => {
  const headers = { ...(await keyWith({ admin: true })), ...JSON_TYPE };
  await fake.inject({ method: 'PUT', url: `/v1/cameras/${id}`, headers, payload: '{}' });
};
/** @returns ids in the order of the list */
const listed = async (url: string, headers: Headers): Promise<string[]> =>
  (await fake.inject({ url, headers })).json().items.map(({ id }: { id: string }) => id);

/** Requests about one comparison, and about one change. */
const OF_COMPARISON = ['', '/events', '/deliveries', '/frames/before', '/heatmaps/after'].map(
  (path) => ['GET', path] as const,
);
const OF_CHANGE = [
  ['GET', ''],
  ['GET', '/deliveries'],
  ['POST', '/acknowledge'],
  ['POST', '/feedback'],
] as const;

describe('A comparison', () => {
  it('of another owner is answered as one that does not exist, on every route', async () => {
    const [owner, other] = [await keyWith(), await keyWith({ cameras: ['gate-*'] })];
    const { id } = (await send(owner)).json();
    const unknown = id.replace(/.{4}$/, '0000');
    for (const [method, path] of [...OF_COMPARISON, ['DELETE', ''] as const]) {
      const ask = async (of: string, headers: Headers) => {
        const answer = await fake.inject({ method, url: `/v1/comparisons/${of}${path}`, headers });
        return { path, status: answer.statusCode, body: answer.body.replaceAll(of, 'ID') };
      };
      const refused = await ask(id, other);
      expect(refused).toMatchObject({ path, status: 404 });
      expect(refused).toEqual(await ask(unknown, other));
    }
    expect(fake.results.kept.has(id)).toBe(true);
    expect((await fake.inject({ url: `/v1/comparisons/${id}`, headers: owner })).statusCode).toBe(200);
    expect((await fake.inject({ method: 'DELETE', url: `/v1/comparisons/${id}`, headers: owner })).statusCode).toBe(
      204,
    );
  });

  it('is visible to its owner, to keys of its camera and to admin, and listed for no other key', async () => {
    const [maker, guard, stranger, admin] = [
      await keyWith({ cameras: ['*'] }),
      await keyWith({ cameras: ['yard', 'gate-*'] }),
      await keyWith({ cameras: ['gate'] }),
      await keyWith({ admin: true }),
    ];
    const plain = (await send(maker)).json().id;
    const gate = (await send(maker, { camera: 'gate-3' })).json().id;
    const all = [plain, gate].sort().reverse();
    expect(await listed('/v1/comparisons', maker)).toEqual(all);
    expect(await listed('/v1/comparisons', admin)).toEqual(all);
    expect(await listed('/v1/comparisons', guard)).toEqual([gate]);
    expect(await listed('/v1/comparisons?camera=gate-3', stranger)).toEqual([]);
    expect((await fake.inject({ url: `/v1/comparisons/${gate}`, headers: guard })).statusCode).toBe(200);
    expect((await fake.inject({ url: `/v1/comparisons/${gate}`, headers: stranger })).statusCode).toBe(404);
  });

  it('is shared by the keys of one owner', async () => {
    const [old, replacement] = [await keyWith({ owner: 'police' }), await keyWith({ owner: 'police' })];
    const { id } = (await send(old)).json();
    expect(await listed('/v1/comparisons', replacement)).toEqual([id]);
  });

  it('may name only a camera of the key, whether or not that camera exists', async () => {
    await setUp('yard');
    const key = await keyWith({ cameras: ['gate-*'] });
    for (const camera of ['yard', 'nowhere']) {
      const { statusCode, body } = await send(key, { camera });
      expect([statusCode, JSON.parse(body).detail]).toEqual([
        403,
        expect.stringContaining(`camera is "${camera}", expected one of the cameras of this key (gate-*`),
      ]);
    }
    expect(fake.results.kept.size).toBe(0);
  });
});

describe('A camera', () => {
  it('of another key is answered as one that does not exist, and is not listed', async () => {
    await Promise.all(['gate-1', 'gate-2', 'yard'].map(setUp));
    const key = await keyWith({ cameras: ['gate-*'] });
    expect(await listed('/v1/cameras', key)).toEqual(['gate-1', 'gate-2']);
    expect(await listed('/v1/cameras', await keyWith())).toEqual([]);
    const ask = async (id: string, sending: boolean) => {
      const url = `/v1/cameras/${id}${sending ? '/frames' : ''}`;
      const answer = await (sending ? send(key, {}, url) : fake.inject({ url, headers: key }));
      return { status: answer.statusCode, body: answer.body.replaceAll(id, 'ID') };
    };
    for (const sending of [true, false]) {
      const refused = await ask('yard', sending);
      expect(refused).toMatchObject({ status: 404, body: expect.stringContaining('(gate-*)') });
      expect(refused).toEqual(await ask('nowhere', sending));
      expect((await ask('gate-1', sending)).status).toBe(sending ? 202 : 200);
    }
    expect(fake.queue.turns).toEqual(['gate-1']);
  });

  it('of another key is in no brief', async () => {
    await Promise.all(['gate-1', 'yard'].map(setUp));
    const key = await keyWith({ cameras: ['gate-*'] });
    const brief = async (query: string) => fake.inject({ url: `/v1/brief${query}`, headers: key });
    const { cameras } = JSON.parse((await brief('')).body);
    expect(cameras.map(({ camera }: { camera: string }) => camera)).toEqual(['gate-1']);
    expect([(await brief('?camera=yard')).statusCode, (await brief('?camera=gate-1')).statusCode]).toEqual([404, 200]);
    expect(fake.days.asked.map(({ camera }) => camera)).toEqual(['gate-1', 'gate-1']);
  });
});

describe('A change', () => {
  it('of a camera of another key is answered as one that does not exist, and is not listed', async () => {
    const change = storedChange({ camera: 'yard' });
    const visible = storedChange({ camera: 'gate-1', name: 'van' });
    fake.changes.kept.push(change, visible);
    const key = await keyWith({ cameras: ['gate-*'] });
    expect(await listed('/v1/changes', key)).toEqual([visible.id]);
    const unknown = change.id.replace(/.{4}$/, '0000');
    for (const [method, path] of OF_CHANGE) {
      const ask = async (id: string) => {
        const payload = method === 'POST' ? { payload: '{"judgement":"correct"}' } : {};
        const headers = { ...key, ...(method === 'POST' ? JSON_TYPE : {}) };
        const answer = await fake.inject({ method, url: `/v1/changes/${id}${path}`, headers, ...payload });
        return { path, status: answer.statusCode, body: answer.body.replaceAll(id, 'ID') };
      };
      expect(await ask(change.id)).toMatchObject({ path, status: 404 });
      expect(await ask(change.id)).toEqual(await ask(unknown));
      expect((await ask(visible.id)).status).toBe(200);
    }
    expect(fake.changes.kept[0]).toEqual(change);
  });

  it('of another key is left out of the exported feedback', async () => {
    const best = acceptedComparison();
    await fake.results.create(best);
    const feedback = { judgement: 'correct' as const, at: new Date().toISOString() };
    const comparisons = { first: best.comparison.id, best: best.comparison.id, last: best.comparison.id };
    for (const camera of ['yard', 'gate']) {
      fake.changes.kept.push(storedChange({ camera, name: camera, comparisons, feedback }));
    }
    const exported = async (headers: Headers) => (await fake.inject({ url: '/v1/feedback', headers })).body;
    const lines = (await exported(await keyWith({ cameras: ['gate'] }))).trim().split('\n');
    expect(lines).toEqual([expect.stringContaining(fake.changes.kept[1]?.id ?? '')]);
    expect(await exported(await keyWith())).toBe('');
  });
});

describe('The event stream', () => {
  it('has the events of the owner and of the cameras of the key only', async () => {
    const [maker, gate] = [await keyWith({ cameras: ['*'] }), await keyWith({ cameras: ['gate'] })];
    const open = async (headers: Headers) => {
      const answer = await fake.app.inject({ url: '/v1/events', headers, payloadAsStream: true });
      let text = '';
      answer
        .stream()
        .setEncoding('utf8')
        .on('data', (chunk) => {
          text += chunk;
        });
      return () => [...text.matchAll(/"id":"(\w+)"/g)].map(([, id]) => id);
    };
    const seen = await Promise.all([open(maker), open(gate), open(await keyWith())]);
    const plain = (await send(maker)).json().id;
    const ofYard = (await send(maker, { camera: 'yard' })).json().id;
    const ofGate = (await send(maker, { camera: 'gate' })).json().id;
    const at = new Date().toISOString();
    const opened = (camera: string) => changeEvent(foundChange({ id: `chg_${camera}`, camera }), 'change.opened', at);
    for (const camera of ['gate', 'yard']) fake.events.tell(opened(camera));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen.map((ids) => ids())).toEqual([
      [plain, ofYard, ofGate, 'chg_gate', 'chg_yard'],
      [ofGate, 'chg_gate'],
      [],
    ]);
  });
});

describe('docs/access.md', () => {
  /** @returns the requirement of the service for a route: its scope or 'none', and a replacement of the key */
  const required = async (method: 'GET', url: string, nothing: Headers): Promise<string> => {
    const { statusCode, json } = await fake.app.inject({ method, url, headers: nothing });
    if (statusCode !== 403) return 'none';
    const scope = `\`${json().detail.split('expected ')[1]}\``;
    const link = signLink(url, { key: linkKey('whsec_test'), expiresAt: Date.now() + 60_000 });
    if ((await fake.app.inject({ method, url: link })).statusCode !== 401) return `${scope}, or a signed link`;
    const keys = await keyWith();
    const { token } = (await fake.inject({ method: 'POST', url: '/v1/events/token', headers: keys })).json();
    const streamed = await fake.app.inject({
      method,
      url: `${url}?access_token=${token}`,
      payloadAsStream: true,
    });
    streamed.stream().destroy();
    return streamed.statusCode === 401 ? scope : `${scope}, or an event token`;
  };

  /** [route, scope, roles] of each line of the table */
  const documented = [
    ...readFileSync('docs/access.md', 'utf8').matchAll(/^\| `([A-Z]+ \/\S*)` \| (.*?) \| (.*?) \|/gm),
  ].map(([, route = '', scope = '', roles = '']) => [route, scope, roles] as const);
  /** Each route of the description, with an address that names a thing which does not exist. */
  const described = () => {
    const { paths } = fake.app.swagger() as { paths: Record<string, object> };
    return Object.entries(paths).flatMap(([path, methods]) => {
      const kind = path.startsWith('/v1/changes') ? 'chg' : 'cmp';
      const url = path.replace('{id}', `${kind}_01k9x3v5s8q2m7c4w6n1b0t9hz`).replace('{side}', 'before');
      return Object.keys(methods).map((name) => ({ path, method: name.toUpperCase() as 'GET', url }));
    });
  };

  it('lists every route with its scope', async () => {
    const { secret } = await fake.apiKeys.create({ name: 'nothing', scopes: [] });
    const routes: string[] = [];
    for (const { path, method, url } of described()) {
      routes.push(`${method} ${path}: ${await required(method, url, { 'x-api-key': secret })}`);
    }
    const listed = documented.map(([route, scope]) => `${route}: ${scope.replace(' if `METRICS_AUTH=on`', '')}`);
    expect(listed.sort()).toEqual(routes.sort());
  });

  it('lists for every route the roles that may call it', async () => {
    const secrets = new Map<Role, string>();
    for (const role of ROLE_NAMES) {
      const { secret } = await fake.apiKeys.create({ name: role, scopes: ROLES[role], cameras: ['*'] });
      secrets.set(role, secret);
    }
    const routes: string[] = [];
    for (const { path, method, url } of described()) {
      const may: Role[] = [];
      for (const [role, secret] of secrets) {
        const answer = await fake.app.inject({ method, url, headers: { 'x-api-key': secret }, payloadAsStream: true });
        answer.stream().destroy();
        // A refusal of the scope comes before all others, and no role has a key that is refused for its cameras.
        if (answer.statusCode !== 403) may.push(role);
      }
      routes.push(`${method} ${path}: ${may.length === ROLE_NAMES.length ? 'every role' : may.join(', ')}`);
    }
    expect(documented.map(([route, , roles]) => `${route}: ${roles}`).sort()).toEqual(routes.sort());
  });
});
