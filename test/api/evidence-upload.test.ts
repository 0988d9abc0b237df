/** POST /v1/evidence, and the endpoints of the format `bucket` that it needs. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { MOST_WAITING } from '../../src/api/evidence/upload.js';
import { storedChange } from '../helpers/changes.js';
import { fakeApp } from '../helpers/fake-app.js';
import { contentsOf } from '../helpers/zip.js';

const LOGIN = 'aws-sigv4 AKIDEXAMPLE12345678:wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY:eu-central-1:s3';
const URL_OF_BUCKET = 'https://s3.eu-central-1.example/archive/evidence';
let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ outboundAllow: [] });
});
beforeEach(async () => {
  fake.reset();
  fake.changes.messages.length = 0;
  await send('PUT', '/v1/cameras/gate', {});
});
afterAll(() => fake.app.close());

const send = async (method: 'POST' | 'PUT' | 'GET', url: string, payload?: object) => {
  const answer = await fake.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
  return { statusCode: answer.statusCode, body: answer.json() };
};
const create = (given: object = {}) =>
  send('POST', '/v1/endpoints', { url: URL_OF_BUCKET, format: 'bucket', authorization: LOGIN, ...given });

it('stores a signed package and queues its upload; the answer says where it will be', async () => {
  const change = storedChange({ camera: 'gate' });
  fake.changes.kept.push(change);
  const { statusCode, body: endpoint } = await create();
  expect([statusCode, endpoint.events, endpoint.secret]).toEqual([201, [], null]);
  const uploaded = await send('POST', '/v1/evidence', { endpoint: endpoint.id, change: change.id });
  expect(uploaded).toMatchObject({
    statusCode: 202,
    body: { delivery: { endpoint: endpoint.id, event: 'evidence.package', state: 'pending' } },
  });
  const { url, bytes } = uploaded.body;
  expect(url).toMatch(new RegExp(`^${URL_OF_BUCKET}/evidence-${change.id}-\\d{8}T\\d{6}Z\\.zip$`));
  const [stored] = fake.changes.messages.map(({ message }) => message.data as { package: { blob: string } });
  const zip = Buffer.from((await fake.blobs.get(stored?.package.blob ?? '')) ?? []);
  expect(zip.length).toBe(bytes);
  expect([...(await contentsOf(zip)).keys()]).toEqual(expect.arrayContaining(['manifest.json', 'manifest.sig']));
  const shown = JSON.stringify([await send('GET', `/v1/endpoints/${endpoint.id}`), uploaded.body.delivery]);
  expect(shown).not.toMatch(/EXAMPLEKEY|archive/);
});

it.each([
  [{ authorization: undefined }, 422, 'authorization'],
  [{ authorization: 'Bearer x' }, 422, 'authorization'],
  [{ authorization: LOGIN.replace(/s3$/, 'sqs') }, 422, 'authorization'],
  [{ events: ['change.opened'] }, 422, 'events'],
  [{ format: 'slack', events: [] }, 422, 'events'],
  [{ url: 'http://169.254.169.254/archive' }, 422, 'url'],
])('an endpoint with %j is refused', async (given, statusCode, field) => {
  expect(await create(given)).toMatchObject({ statusCode, body: { field } });
});

it.each([
  [{ change: `chg_${'0'.repeat(26)}` }, 404, undefined],
  [{}, 422, undefined],
  [{ camera: 'gate' }, 422, undefined],
  [{ colour: 'red' }, 400, 'colour'],
])('a request for %j is refused, and uploads nothing', async (given, statusCode, field) => {
  const { body: endpoint } = await create();
  const answer = await send('POST', '/v1/evidence', { endpoint: endpoint.id, ...given });
  expect([answer.statusCode, answer.body.field]).toEqual([statusCode, field]);
  expect(fake.changes.messages).toEqual([]);
});

it('an endpoint of another format, or none, is refused', async () => {
  const change = storedChange({ camera: 'gate' });
  fake.changes.kept.push(change);
  const { body: hook } = await send('POST', '/v1/endpoints', { url: 'https://alerts.example/in' });
  for (const [endpoint, status] of [
    [hook.id, 422],
    [`end_${'0'.repeat(26)}`, 404],
  ]) {
    expect((await send('POST', '/v1/evidence', { endpoint, change: change.id })).statusCode).toBe(status);
  }
});

it('one package is in memory at a time, few wait without having read anything, and further ones are refused', async () => {
  fake.changes.kept.push(storedChange({ camera: 'gate' }));
  const { body: endpoint } = await create();
  const { put } = fake.blobs;
  const { get } = fake.changes;
  let [writing, mostWriting, reading, mostReading] = [0, 0, 0, 0];
  const later = () => new Promise((done) => setTimeout(done, 5));
  fake.blobs.put = async (...given) => {
    mostWriting = Math.max(mostWriting, ++writing);
    await later();
    writing -= 1;
    return put.apply(fake.blobs, given);
  };
  fake.changes.get = async (id) => {
    mostReading = Math.max(mostReading, ++reading);
    await later();
    reading -= 1;
    return get.call(fake.changes, id);
  };
  const change = fake.changes.kept[0]?.id;
  const sent = Array.from({ length: 24 }, () => send('POST', '/v1/evidence', { endpoint: endpoint.id, change }));
  const answers = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
  Object.assign(fake.blobs, { put });
  Object.assign(fake.changes, { get });
  const served = 1 + MOST_WAITING;
  expect(answers.sort()).toEqual([...Array(served).fill(202), ...Array(24 - served).fill(503)]);
  expect([mostWriting, mostReading]).toEqual([1, 1]);
  expect((await send('POST', '/v1/evidence', { endpoint: endpoint.id, change })).statusCode).toBe(202);
});
