/** Open event streams end when their key is revoked or their session expires. Only the clock of intervals is faked. */
import type { Readable } from 'node:stream';
import { jest } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { fakeApp } from '../helpers/fake-app.js';

const HEARTBEAT_MS = 15_000;
const TWELVE_HOURS_MS = 12 * 3_600_000;
let fake: Awaited<ReturnType<typeof fakeApp>>;
let now = 1_800_000_000_000;

beforeAll(async () => {
  fake = await fakeApp({ auth: 'on' }, { clock: () => now });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
  jest.useFakeTimers({
    doNotFake: [
      ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setTimeout', 'clearTimeout'] as const),
    ],
  });
});
afterEach(() => jest.useRealTimers());
afterAll(() => fake.app.close());

const open = async (url: string, headers: Record<string, string>) => {
  const answer = await fake.app.inject({ url, headers, payloadAsStream: true });
  expect(answer.statusCode).toBe(200);
  let [text, ended] = ['', false];
  const stream = answer.stream() as Readable;
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  stream.on('end', () => {
    ended = true;
  });
  return { text: () => text, ended: () => ended };
};
const heartbeats = (text: string) => text.split('\n\n').filter((block) => block === ':').length;
/** Lets one interval pass, and waits for the heartbeat of this stream. */
const beat = async (stream: Awaited<ReturnType<typeof open>>) => {
  const before = heartbeats(stream.text());
  jest.advanceTimersByTime(HEARTBEAT_MS);
  await eventually(() => expect(heartbeats(stream.text())).toBe(before + 1));
};
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const newKey = () => fake.apiKeys.create({ name: 'desk', scopes: ['compare'], owner: 'police' });

it.each([
  ['of all comparisons, opened with a key', '/v1/events', 'key'],
  ['of one comparison, opened with a key', '/v1/comparisons', 'key'],
  ['opened with an event token', '/v1/events', 'token'],
  ['opened with the cookie of a session', '/v1/events', 'session'],
])('a stream %s ends with the next heartbeat after its key is revoked', async (_what, path, by) => {
  const { secret, key } = await newKey();
  const other = await newKey();
  const stored = acceptedComparison({ owner: 'police' });
  await fake.results.create(stored);
  const url = path === '/v1/events' ? path : `${path}/${stored.comparison.id}/events`;
  const post = (address: string) => fake.inject({ method: 'POST', url: address, headers: bearer(secret) });
  const opened = {
    key: () => open(url, bearer(secret)),
    token: async () => open(`${url}?access_token=${(await post('/v1/events/token')).json().token}`, {}),
    session: async () => {
      const cookie = String((await post('/v1/session')).headers['set-cookie']).split(';')[0] ?? '';
      return open(url, { cookie });
    },
  }[by as 'key' | 'token' | 'session'];
  const [stream, unaffected] = [await opened(), await open(url, bearer(other.secret))];
  await beat(stream);
  expect(stream.ended()).toBe(false);

  await fake.apiKeys.revoke(key.id);
  await beat(unaffected);
  await eventually(() => expect(stream.ended()).toBe(true));
  expect(heartbeats(stream.text())).toBe(1);
  expect(unaffected.ended()).toBe(false);
  // Later events do not reach it.
  const before = stream.text();
  await fake.results.create(acceptedComparison({ owner: 'police' }));
  expect(stream.text()).toBe(before);
});

it('a stream of a session ends when the session has expired', async () => {
  const { secret } = await newKey();
  const answer = await fake.inject({ method: 'POST', url: '/v1/session', headers: bearer(secret) });
  const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
  const [stream, ofKey] = [await open('/v1/events', { cookie }), await open('/v1/events', bearer(secret))];
  now += TWELVE_HOURS_MS;
  await beat(ofKey);
  await eventually(() => expect(stream.ended()).toBe(true));
  expect(ofKey.ended()).toBe(false);
});

it('a stream reports by its heartbeat whether Redis answers, if asked to', async () => {
  const { secret } = await newKey();
  const HEARTBEAT = 'event: heartbeat\ndata: {}\n\n';
  const stream = await open('/v1/events?heartbeats=true', bearer(secret));
  await eventually(() => expect(stream.text()).toMatch(/^retry: \d+\n\nevent: heartbeat\ndata: {}\n\n$/));
  const opening = stream.text();
  fake.events.following = false;
  await beat(stream);
  expect(stream.text()).toBe(`${opening}:\n\n`);
  fake.events.following = true;
  jest.advanceTimersByTime(HEARTBEAT_MS);
  await eventually(() => expect(stream.text()).toBe(`${opening}:\n\n${HEARTBEAT}`));
});

it('a stream stays open while Redis cannot say whether its key is valid', async () => {
  const { secret, key } = await newKey();
  const stream = await open('/v1/events', bearer(secret));
  const get = jest
    .spyOn(fake.apiKeys, 'get')
    .mockRejectedValue(new ScenedeltaError('queue-unavailable', 'reading an API key: Redis cannot be reached'));
  await beat(stream);
  get.mockRestore();
  await fake.apiKeys.revoke(key.id);
  jest.advanceTimersByTime(HEARTBEAT_MS);
  await eventually(() => expect(stream.ended()).toBe(true));
});
