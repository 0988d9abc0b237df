/** Subscriptions of browsers to web push with keys that are no administrator's: what they may register and see. */
import { createECDH, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ROLES, type Role } from '../../src/stores/redis/scopes.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on' });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

const keys = `${createECDH('prime256v1').generateKeys('base64url')}:${randomBytes(16).toString('base64url')}`;
const BROWSER = { url: 'https://push.example/send/1', format: 'web-push', authorization: keys };

/** @returns sends a request with a key of this role */
const keyOf = async (role: Role, given: { owner?: string; cameras?: string[] } = {}) => {
  const { secret } = await fake.apiKeys.create({ name: role, scopes: ROLES[role], cameras: ['*'], ...given });
  return async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: object) => {
    const url = `/v1/endpoints${path}`;
    const answer = await fake.inject({ method, url, headers: { 'x-api-key': secret }, ...(payload && { payload }) });
    return { status: answer.statusCode, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
  };
};
const idsOf = ({ json }: { json: { items: { id: string }[] } }) => json.items.map(({ id }) => id);

it('A guard subscribes a browser, sees and removes his own subscriptions alone; an administrator sees all', async () => {
  const [guard, colleague, admin] = [await keyOf('guard'), await keyOf('guard'), await keyOf('admin')];
  const created = await guard('POST', '', BROWSER);
  expect(created).toMatchObject({ status: 201, json: { format: 'web-push', owner: expect.any(String), cameras: [] } });
  const { id } = created.json;
  const other = (await colleague('POST', '', BROWSER)).json.id;
  const hook = (await admin('POST', '', { url: 'https://r.example/in' })).json;
  expect(hook.owner).toBeNull();
  expect([idsOf(await guard('GET')), idsOf(await colleague('GET'))]).toEqual([[id], [other]]);
  expect(idsOf(await admin('GET')).sort()).toEqual([id, other, hook.id].sort());
  for (const foreign of [other, hook.id]) {
    for (const method of ['GET', 'DELETE'] as const) expect((await guard(method, `/${foreign}`)).status).toBe(404);
  }
  for (const [method, path] of [
    ['PATCH', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['POST', '/recover'],
    ['GET', '/deliveries'],
  ] as const) {
    expect((await guard(method, `/${id}${path}`, method === 'GET' ? undefined : {})).status).toBe(403);
  }
  expect((await guard('DELETE', `/${id}`)).status).toBe(204);
  expect(idsOf(await guard('GET'))).toEqual([]);
});

it('A subscription is shared by the keys of one owner, and an administrator may change it without taking it over', async () => {
  const [old, next] = [await keyOf('guard', { owner: 'night' }), await keyOf('guard', { owner: 'night' })];
  const { id } = (await old('POST', '', BROWSER)).json;
  const admin = await keyOf('admin');
  expect((await admin('PATCH', `/${id}`, { min_severity: 'high' })).json).toMatchObject({ owner: 'night' });
  expect(idsOf(await next('GET'))).toEqual([id]);
});

it('A guard registers no other receiver, and no cameras that the key does not see', async () => {
  const guard = await keyOf('guard', { cameras: ['gate-*', 'yard'] });
  const refused = [
    [{ url: 'https://r.example/in' }, /format is standard-webhooks, expected web-push/],
    [{ ...BROWSER, cameras: ['*'] }, /cameras has "\*", expected cameras of this key \(gate-\*, yard\)/],
    [{ ...BROWSER, cameras: ['gate-1', 'dock'] }, /cameras has "dock"/],
    [{ ...BROWSER, cameras: ['yard*'] }, /cameras has "yard\*"/],
  ] as const;
  for (const [body, detail] of refused) {
    expect(await guard('POST', '', body)).toMatchObject({
      status: 403,
      json: { detail: expect.stringMatching(detail) },
    });
  }
  const cameras = async (given: object) => (await guard('POST', '', { ...BROWSER, ...given })).json.cameras;
  expect(await cameras({})).toEqual(['gate-*', 'yard']);
  expect(await cameras({ cameras: ['gate-1', 'gate-2*'] })).toEqual(['gate-1', 'gate-2*']);
  const none = await keyOf('guard', { cameras: [] });
  expect((await none('POST', '', BROWSER)).status).toBe(403);
});

it.each(['viewer', 'integrator'] as const)('A key of the role %s subscribes nothing', async (role) => {
  const ask = await keyOf(role);
  expect([(await ask('POST', '', BROWSER)).status, (await ask('GET')).status]).toEqual([403, 403]);
});
