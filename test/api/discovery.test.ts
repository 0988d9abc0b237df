/** The routes that search for cameras: what they ask a worker, and what they refuse before. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { loginContext, openLogin } from '../../src/secrets/login.js';
import { fakeApp } from '../helpers/fake-app.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ outboundAllow: ['192.168.7.0/24'] });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const post = (url: string, payload?: object) =>
  service.inject({ method: 'POST', url, ...(payload === undefined ? {} : { payload }) });
const url = 'http://192.168.7.3/onvif/device_service';

it('a search is asked of a worker', async () => {
  service.questions.answer = { items: [] };
  expect((await post('/v1/discovery')).json()).toEqual({ items: [] });
  expect(service.questions.asked.at(-1)).toEqual({ kind: 'discover' });
});

it('the addresses of a camera are asked of a worker, with the login encrypted', async () => {
  const answer = { picture: 'http://192.168.7.3/snap.jpg', stream: null };
  service.questions.answer = answer;
  expect((await post('/v1/discovery/addresses', { url })).json()).toEqual(answer);
  expect(service.questions.asked.at(-1)).toEqual({ kind: 'addresses', url });
  await post('/v1/discovery/addresses', { url, username: 'viewer', password: 'geheim' });
  const { login = '' } = service.questions.asked.at(-1) as { login?: string };
  const opened = openLogin(login, Buffer.alloc(32, 1), loginContext('', url));
  expect(opened).toEqual({ username: 'viewer', password: 'geheim' });
});

it.each([
  ['a public address', { url: 'http://8.8.8.8/' }, 'url-refused', '8.8.8.8 is a public address'],
  ['an address of another network', { url: 'http://10.0.0.1/' }, 'url-refused', '10.0.0.1 is a private address'],
  ['half a login', { url, username: 'viewer' }, 'invalid-value', 'password is missing'],
  ['no address', {}, 'invalid-request', 'url'],
])('%s is refused, and no worker is asked', async (_what, body, code, detail) => {
  const asked = service.questions.asked.length;
  const answer = (await post('/v1/discovery/addresses', body)).json();
  expect(answer).toMatchObject({ type: expect.stringContaining(code), detail: expect.stringContaining(detail) });
  expect(service.questions.asked).toHaveLength(asked);
});
