/** `scenedelta/client` in front of a receiver. Its examples run against the service: test/e2e/clients.test.ts. */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createClient, type Failure, ok, type ReceivedEvent } from '../../clients/src/client.js';
import { type Received, type Receiver, startReceiver } from '../helpers/receiver.js';

let answer: (response: ServerResponse, request: Received) => void;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver((request, response) => answer(response, request));
});
afterEach(() => receiver.close());
const client = () => createClient({ url: `${receiver.url}/below/`, key: 'sd_key' });
const failureOf = (call: Promise<unknown>) => call.then(String, ({ kind, message }: Failure) => `${kind}: ${message}`);

it('posts a pair and a frame below the path of its address, with its key, options and fields', async () => {
  answer = (response) => response.setHeader('content-type', 'application/json').end('{"status":"finished"}');
  const [before, after] = [Buffer.from('one'), Buffer.from('two')];
  await client().compare(before, after, { camera: 'gate', metadata: { ticket: 7 }, language: 'fr', wait: 5 });
  await client().postFrame('gate', after, { captured_at: new Date(0), idempotencyKey: 'frame-1' });
  const [pair, frame] = receiver.received;
  expect(pair).toMatchObject({
    ...{ method: 'POST', path: '/below/v1/comparisons' },
    headers: { authorization: 'Bearer sd_key', prefer: 'wait=5', 'accept-language': 'fr' },
  });
  expect(pair?.body).toMatch(
    /name="before".*one.*name="after".*two.*name="camera".*gate.*name="metadata".*{"ticket":7}/s,
  );
  expect(frame).toMatchObject({ path: '/below/v1/cameras/gate/frames', headers: { 'idempotency-key': 'frame-1' } });
  expect(frame?.body).toMatch(/name="frame".*two.*name="captured_at"\s+1970-01-01T00:00:00.000Z/s);
});

it('continues the events of a camera after the last one when the connection broke', async () => {
  answer = (response, { headers }) => {
    const next = Number(headers['last-event-id'] ?? 0) + 1;
    response.end(`: heartbeat\n\nid: ${next}\nevent: change.opened\ndata: {"type":"change.opened"}\n\n`);
  };
  const received: ReceivedEvent[] = [];
  for await (const event of client().events({ camera: 'gate 1' })) if (received.push(event) === 2) break;
  expect(received.map(({ id }) => id)).toEqual(['1', '2']);
  expect(receiver.received[0]?.path).toBe('/below/v1/events?camera=gate+1');
});

it.each([
  [400, 'refused'],
  [401, 'unauthorized'],
])('ends the events if the service answers %d', async (status, kind) => {
  answer = (response) => response.writeHead(status).end('{"title":"No"}');
  expect(await failureOf(client().events().next())).toBe(`${kind}: the service answered ${status}: No`);
});

it('names both versions if the service has another major version', async () => {
  answer = (response) => response.setHeader('scenedelta-version', '7.2.0').end('{}');
  const [origin, { version }] = [receiver.url, JSON.parse(readFileSync('package.json', 'utf8'))];
  const said = `refused: ${origin} is scenedelta 7.2.0, and this client is ${version}: a client of version 7 is needed`;
  expect(await failureOf(ok(client().api.GET('/v1/changes')))).toBe(said);
  expect(await failureOf(client().events().next())).toBe(said);
});

it('takes a service of another minor version, and one whose proxy removes the header', async () => {
  answer = (response) => response.setHeader('scenedelta-version', '1.99.0').end('{}');
  expect(await ok(client().api.GET('/v1/changes'))).toEqual({});
  answer = (response) => response.end('{}');
  expect(await ok(client().api.GET('/v1/changes'))).toEqual({});
});
