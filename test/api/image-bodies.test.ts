/** Frames of cameras whose request body is the image itself. */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { frameKey } from '../../src/base/blobs.js';
import { cameraApi } from '../helpers/camera-api.js';
import { eventually } from '../helpers/eventually.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg } from '../helpers/requests.js';

const FRAME_LIMIT = 50_000;
let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: FRAME_LIMIT });
});
beforeEach(async () => {
  await service.reset();
  await put('gate', {});
});
afterAll(() => service.app.close());
const { put, send } = cameraApi(() => service);

const sendImage = (payload: Buffer, { type = 'image/jpeg', query = '', url = '/v1/cameras/gate/frames' } = {}) =>
  service.inject({
    method: 'POST',
    url: `${url}${query}`,
    payload,
    headers: { 'content-type': type, prefer: 'respond-async' },
  });

it('is stored as it came and queued, with the time of the query', async () => {
  const frame = await jpeg();
  const answer = await sendImage(frame, { query: '?captured_at=2026-06-01T12:00:00Z' });
  expect(answer.statusCode).toBe(202);
  const stored = service.results.kept.get(answer.json().id);
  expect(stored?.request.turn).toEqual({ camera: 'gate', capturedAt: Date.parse('2026-06-01T12:00:00Z') });
  const sha256 = stored?.frames.after?.sha256 ?? '';
  expect(Buffer.from(service.blobs.kept.get(frameKey(sha256)) ?? []).equals(frame)).toBe(true);
});

const ANY = ['application/octet-stream', 'binary/octet-stream'];
it.each(['image/jpg', 'image/png', 'Image/JPEG; q=1', ...ANY])('may be labelled %s: the bytes decide', async (type) => {
  expect((await sendImage(await jpeg(), { type })).statusCode).toBe(202);
});

it('takes the time of the query for a form too, but not both', async () => {
  const both = form({ frame: await jpeg(), captured_at: '2026-06-01T12:00:00Z' });
  const url = '/v1/cameras/gate/frames?captured_at=2026-06-01T12:00:01Z';
  const headers = { ...both.headers, prefer: 'respond-async' };
  const refused = await service.inject({ method: 'POST', url, payload: both.payload, headers });
  expect([refused.statusCode, refused.json().field]).toEqual([422, 'captured_at']);
  const { payload } = form({ frame: await jpeg() });
  const taken = await service.inject({ method: 'POST', url, payload, headers });
  expect(service.cameras.waiting.get('gate')).toEqual([
    { id: taken.json().id, at: Date.parse('2026-06-01T12:00:01Z') },
  ]);
});

it.each([
  [
    'a picture of a telephone',
    Buffer.concat([Buffer.from([0, 0, 0, 28]), Buffer.from('ftypheic')]),
    422,
    /frame is a HEIC image: expected a JPEG/,
  ],
  ['no image', Buffer.from('hello'), 422, /frame has 5 bytes and starts with 68656c6c6f: expected a JPEG/],
  ['empty', Buffer.alloc(0), 422, /frame has 0 bytes/],
  ['too large', Buffer.alloc(FRAME_LIMIT + 1, 0xff), 413, /frame is larger than 50000 bytes \(FRAME_LIMIT\)/],
])('that is %s is refused and leaves nothing', async (_what, payload, status, detail) => {
  const answer = await sendImage(payload);
  expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.stringMatching(detail)]);
  expect([service.results.kept.size, service.blobs.kept.size]).toEqual([0, 0]);
});

it('is refused by routes that take a form or JSON, which say so', async () => {
  const answer = await sendImage(await jpeg(), { url: '/v1/comparisons' });
  expect([answer.statusCode, answer.json().detail]).toEqual([
    415,
    'Content-Type is image/jpeg, expected multipart/form-data or application/json',
  ]);
  const text = await service.inject({
    method: 'POST',
    url: '/v1/cameras/gate/frames',
    payload: 'a',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.json().detail).toBe(
    'Content-Type is text/plain, expected multipart/form-data, application/json or image/...',
  );
});

describe('over a connection', () => {
  let port: number;
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    port = (service.app.server.address() as AddressInfo).port;
  });
  const open = () =>
    httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/v1/cameras/gate/frames',
      headers: { 'content-type': 'image/jpeg', prefer: 'respond-async' },
    });

  it('without Content-Length is held to the same limit, and the answer arrives', async () => {
    const request = open();
    request.on('error', () => {});
    const answered = new Promise<number | undefined>((resolve) =>
      request.once('response', (response) => resolve(response.resume().statusCode)),
    );
    request.write(await jpeg());
    const more = setInterval(() => request.write(Buffer.alloc(10_000)), 1);
    expect(await answered).toBe(413);
    // The endless rest is not read without end.
    await new Promise((resolve) => request.once('close', resolve));
    clearInterval(more);
  });

  it('that is broken off leaves nothing, and the next one is taken', async () => {
    const request = open();
    request.on('error', () => {});
    request.write((await jpeg()).subarray(0, 100));
    await eventually(async () => expect(await connections()).toBeGreaterThan(0));
    request.destroy();
    await eventually(async () => expect(await connections()).toBe(0));
    expect(service.results.kept.size).toBe(0);
    expect((await send('gate', form({ frame: await jpeg() }))).statusCode).toBe(202);
  });
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      service.app.server.getConnections((err, count) => (err ? reject(err) : resolve(count))),
    );
});
