/** The routes of endpoints and deliveries. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openSecrets, validSecrets } from '../../src/endpoints/secrets.js';
import { fakeApp } from '../helpers/fake-app.js';

const KEY = Buffer.alloc(32, 1);
let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on' });
});
beforeEach(async () => {
  fake.reset();
  ({ secret: key } = await fake.apiKeys.create({ name: 'admin', scopes: ['admin'] }));
});
afterAll(() => fake.app.close());
let key: string;

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const CAMERA_DOWN = ['camera.silent', 'camera.stuck', 'camera.back', 'camera.lens_covered', 'camera.lens_clear'];
const call = async (method: Method, url: string, payload?: object) => {
  const body = payload === undefined ? {} : { payload };
  const {
    statusCode,
    headers,
    body: text,
  } = await fake.inject({ method, url, headers: { 'x-api-key': key }, ...body });
  return { status: statusCode, headers, json: text === '' ? undefined : JSON.parse(text) };
};
const MAIL_SERVER = 'smtps://a%40b.example@mail.example?to=c@d.example';
const create = (given: object = {}) => call('POST', '/v1/endpoints', { url: 'https://r.example/in?token=1', ...given });
const stored = () => {
  const [endpoint] = [...fake.endpoints.kept.values()];
  if (endpoint === undefined) throw new Error('one is stored');
  return { endpoint, secrets: openSecrets(endpoint.id, endpoint.sealed, KEY) };
};

describe('POST /v1/endpoints', () => {
  it('registers a receiver, with its secret in this answer only', async () => {
    const { status, headers, json } = await create({ cameras: ['gate-*'], authorization: 'Bearer tk' });
    expect(status).toBe(201);
    expect(headers.location).toBe(`/v1/endpoints/${json.id}`);
    expect(json).toMatchObject({
      ...{ url: 'https://r.example/...', format: 'standard-webhooks', cameras: ['gate-*'], state: 'active' },
      events: ['change.opened', 'change.escalated', 'change.reverted', 'visit.alerted', ...CAMERA_DOWN],
      ...{ has_authorization: true, secrets: 1 },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secrets } = stored();
    expect(secrets).toMatchObject({ url: 'https://r.example/in?token=1', authorization: 'Bearer tk' });
    expect(secrets.signing[0]?.secret).toBe(json.secret);
    for (const url of ['/v1/endpoints', `/v1/endpoints/${json.id}`]) {
      const text = JSON.stringify((await call('GET', url)).json);
      for (const part of [json.secret, 'token=1', 'Bearer tk']) expect(text).not.toContain(part);
    }
  });

  it.each(['slack', 'ntfy', 'teams', 'template'])(
    'shows no path with %s, which may be a secret, and has no secret of its own',
    async (format) => {
      const { json } = await create({ url: 'https://hooks.example/T0/B0/topic', format, template: '{}' });
      expect(json).toMatchObject({ url: 'https://hooks.example/...', secret: null, secrets: 0 });
    },
  );

  it.each([
    ['a private address', { url: 'http://10.1.2.3/x' }, 422, 'url'],
    ['a loopback address', { url: 'http://[::1]/x' }, 422, 'url'],
    ['the address of metadata', { url: 'http://169.254.169.254/latest' }, 422, 'url'],
    ['a user in the address', { url: 'https://a:b@r.example/' }, 422, 'url'],
    [
      'visits for a receiver that has alerts alone',
      { url: 'https://r.example/', format: 'alertmanager', events: ['change.opened', 'visit.opened'] },
      422,
      'events',
    ],
    ['an address of ntfy without a topic', { url: 'https://ntfy.sh', format: 'ntfy' }, 422, 'url'],
    ['another scheme', { url: 'ftp://r.example/' }, 400, 'url'],
    ['a bot of Telegram without a chat', { url: 'https://api.telegram.org/bot1:a', format: 'telegram' }, 422, 'url'],
    ['mail without a recipient', { url: 'smtp://a%40b.example@mail.example', format: 'email' }, 422, 'url'],
    [
      'mail to a private server',
      { url: 'smtp://10.1.2.3?from=a@b.example&to=c@d.example', format: 'email' },
      422,
      'url',
    ],
    ['a mail server of another format', { url: 'smtp://mail.example' }, 422, 'url'],
    ['a template that is missing', { format: 'template' }, 422, 'template'],
    ['an invalid template', { format: 'template', template: '{{ titel }}' }, 422, 'template'],
    ['PagerDuty without an integration key', { format: 'pagerduty' }, 422, 'authorization'],
    ...[['change.opened'], ['change.reverted', 'camera.lens_covered', 'camera.back']].map(
      (events) =>
        [
          'incidents that nothing ends',
          { format: 'pagerduty', authorization: 'a'.repeat(32), events },
          422,
          'events',
        ] as const,
    ),
    ['an unknown format', { format: 'discord' }, 400, 'format'],
    ['a header in the login', { authorization: 'x\r\ny: z' }, 400, 'authorization'],
    ['no events', { events: [] }, 422, 'events'],
    ['a brief of another format', { brief: { hour: 7, time_zone: 'UTC' } }, 422, 'brief'],
    [
      'a brief at no hour',
      { url: MAIL_SERVER, format: 'email', brief: { hour: 24, time_zone: 'UTC' } },
      400,
      'brief/hour',
    ],
    [
      'a brief in no time zone',
      { url: MAIL_SERVER, format: 'email', brief: { hour: 7, time_zone: 'Nowhere' } },
      422,
      'brief/time_zone',
    ],
    ['an unknown member', { filter: 1 }, 400, 'filter'],
  ])('refuses %s, and names the field', async (_what, given, status, field) => {
    const refused = await create(given);
    expect([refused.status, refused.json.field]).toEqual([status, field]);
    expect(fake.endpoints.kept.size).toBe(0);
  });

  it('keeps the password of a mail server for this server alone', async () => {
    const url = 'smtps://a%40b.example@mail.example?to=c@d.example';
    const { json } = await create({ url, format: 'email', authorization: 'secret' });
    expect(json).toMatchObject({ url: 'smtps://mail.example', secret: null, has_authorization: true });
    const moved = await call('PATCH', `/v1/endpoints/${json.id}`, { url: url.replace('mail.', 'other.') });
    expect([moved.status, moved.json.field]).toEqual([422, 'authorization']);
  });

  it('asks for the scope admin', async () => {
    ({ secret: key } = await fake.apiKeys.create({ name: 'camera', scopes: ['compare'], cameras: ['*'] }));
    for (const [method, url] of [
      ['POST', '/v1/endpoints'],
      ['GET', '/v1/endpoints'],
      ['POST', `/v1/deliveries/dlv_${'0'.repeat(26)}/resend`],
    ] as const) {
      expect((await call(method, url)).status).toBe(403);
    }
  });
});

describe('PATCH /v1/endpoints/{id}', () => {
  it('sends a stored Authorization to no other origin', async () => {
    const { json } = await create({ authorization: 'Bearer tk' });
    const path = `/v1/endpoints/${json.id}`;
    const before = stored().secrets;
    const refused = await call('PATCH', path, { url: 'https://other.example/' });
    expect([refused.status, refused.json.detail]).toEqual([422, expect.stringContaining('another origin')]);
    expect(stored().secrets).toEqual(before);
    const sameOrigin = `${new URL(before.url).origin}/elsewhere`;
    expect((await call('PATCH', path, { url: sameOrigin })).status).toBe(200);
    expect(stored().secrets).toEqual({ ...before, url: sameOrigin });
    await call('PATCH', path, { url: 'https://other.example/', authorization: null });
    expect(stored().secrets).toMatchObject({ url: 'https://other.example/', authorization: null });
  });

  it('changes what is given, and keeps the rest and the secret', async () => {
    const { json } = await create({ description: 'desk', min_severity: 'high' });
    const { secrets: before } = stored();
    const changed = await call('PATCH', `/v1/endpoints/${json.id}`, { text: 'car' });
    expect(changed.json).toMatchObject({ description: 'desk', min_severity: 'high', text: 'car' });
    await call('PATCH', `/v1/endpoints/${json.id}`, { url: 'https://other.example/', authorization: 'Basic x' });
    expect(stored().secrets).toEqual({ ...before, url: 'https://other.example/', authorization: 'Basic x' });
  });

  it('starts an endpoint again that was stopped', async () => {
    const { json } = await create();
    const stopped = { at: new Date(0).toISOString(), reason: 'gone' as const, detail: 'it answered 410' };
    fake.endpoints.kept.set(json.id, { ...stored().endpoint, stopped, failingSince: stopped.at });
    const url = `/v1/endpoints/${json.id}`;
    expect((await call('GET', url)).json).toMatchObject({ state: 'stopped', stopped });
    expect((await call('PATCH', url, { enabled: false })).json).toMatchObject({ state: 'disabled', stopped });
    expect((await call('PATCH', url, { enabled: true })).json).toMatchObject({ state: 'active', stopped: null });
  });

  it('refuses a private address', async () => {
    const { json } = await create();
    expect((await call('PATCH', `/v1/endpoints/${json.id}`, { url: 'http://127.0.0.1/' })).status).toBe(422);
  });
});

describe('POST /v1/endpoints/{id}/rotate', () => {
  it('makes a new secret, and keeps the earlier one for a time', async () => {
    const { json } = await create();
    const rotated = await call('POST', `/v1/endpoints/${json.id}/rotate`, { previous_valid_s: 3_600 });
    expect(rotated.json.secret).not.toBe(json.secret);
    const until = Date.parse(rotated.json.previous_secret_until);
    expect(validSecrets(stored().secrets, until - 1)).toEqual([rotated.json.secret, json.secret]);
    expect(validSecrets(stored().secrets, until)).toEqual([rotated.json.secret]);
    expect((await call('GET', `/v1/endpoints/${json.id}`)).json).toMatchObject({ secrets: 2 });
  });

  it('keeps the earlier one for a day by default, and refuses a missing body or a format without a signature', async () => {
    const { json } = await create();
    const { json: rotated } = await call('POST', `/v1/endpoints/${json.id}/rotate`, {});
    expect(Date.parse(rotated.previous_secret_until) - Date.now()).toBeGreaterThan(86_000_000);
    const { json: slack } = await create({ format: 'slack' });
    expect((await call('POST', `/v1/endpoints/${slack.id}/rotate`, {})).status).toBe(422);
    expect((await call('POST', `/v1/endpoints/${json.id}/rotate`)).status).toBe(400);
  });
});

describe('Deliveries of an endpoint', () => {
  it('are queued by a test, listed, and sent again', async () => {
    const { json } = await create();
    const test = await call('POST', `/v1/endpoints/${json.id}/test`);
    expect(test).toMatchObject({ status: 202, json: { event: 'endpoint.test', state: 'pending' } });
    expect(fake.queue.deliveries).toEqual([test.json.id]);
    expect((await call('GET', `/v1/endpoints/${json.id}/deliveries`)).json.items).toEqual([test.json]);
    expect((await call('POST', `/v1/deliveries/${test.json.id}/resend`)).status).toBe(202);
    expect(fake.queue.deliveries).toHaveLength(2);
  });

  it('are recovered since a time', async () => {
    const { json } = await create();
    const url = `/v1/endpoints/${json.id}/recover`;
    expect(await call('POST', url, { since: '2026-01-01T00:00:00Z' })).toMatchObject({
      status: 202,
      json: { queued: 0 },
    });
    expect((await call('POST', url, { since: 'yesterday' })).status).toBe(400);
  });
});

it('An endpoint or a delivery that does not exist is 404, and a deleted endpoint does not exist', async () => {
  const { json } = await create();
  expect((await call('DELETE', `/v1/endpoints/${json.id}`)).status).toBe(204);
  for (const [method, part] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/rotate'],
    ['GET', '/deliveries'],
  ] as const) {
    const url = `/v1/endpoints/${json.id}${part}`;
    expect((await call(method, url, method === 'PATCH' || part === '/rotate' ? {} : undefined)).status).toBe(404);
  }
  expect((await call('POST', `/v1/deliveries/dlv_${'0'.repeat(26)}/resend`)).status).toBe(404);
});
