/** Time limits of bodies, with clients that send slowly over a socket. */
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { BodyLimits } from '../../src/api/plugins/body-time.js';
import { fakeApp, UPLOADS } from '../helpers/fake-app.js';

const LIMITS: BodyLimits = {
  bodyMs: 600,
  uploadMs: 60_000,
  windowMs: 500,
  windowBytes: 20,
  checkMs: 20,
  answeredMs: 60_000,
};
/** Longer than a body may take that is no upload. */
const STEPS = 12;
const STEP_MS = 100;
const PART = 'x'.repeat(10);
const startOf = (field: string) =>
  `--b\r\nContent-Disposition: form-data; name="${field}"; filename="yard.mp4"\r\n\r\n`;
const END = '\r\n--b--\r\n';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let port: number;
beforeAll(async () => {
  fake = await fakeApp({}, {}, undefined, LIMITS);
  await fake.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = fake.app.server.address() as AddressInfo);
});
afterAll(async () => {
  await fake.app.close();
  await rm(UPLOADS, { recursive: true, force: true });
});

/** @param part bytes of each step; '': the client is silent. @returns all that the server sent */
async function send(path: string, part: string, field = 'footage'): Promise<string> {
  const start = startOf(field);
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => (answer += text));
  socket.on('error', () => {});
  const closed = new Promise<void>((done) => socket.once('close', () => done()));
  const length = start.length + PART.length * STEPS + END.length;
  const headers = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\nConnection: close`;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${start}`);
  for (let step = 0; step < STEPS && socket.writable; step++) {
    await setTimeout(STEP_MS);
    if (part !== '' && socket.writable) socket.write(part);
  }
  if (part === PART && socket.writable) socket.write(END);
  await closed;
  return answer;
}

it('a recording over a slow line becomes a batch, however much longer than another body it takes', async () => {
  const answer = await send('/v1/batches', PART);
  expect(answer).toContain('HTTP/1.1 202');
  expect(answer).toContain('"status":"queued"');
});

it('another body that comes as slowly is refused with its limit', async () => {
  const answer = await send('/v1/comparisons', PART, 'before');
  expect(answer).toContain('HTTP/1.1 408 Request Timeout');
  expect(answer).toContain('The body has not arrived within 0.6 s');
});

it.each([
  ['sends a byte now and then', 'x'],
  ['falls silent', ''],
])('a recording whose client %s is cut, and the rates are named', async (_title, part) => {
  const before = fake.batches.kept.size;
  const answer = await send('/v1/batches', part);
  expect(answer).toContain('HTTP/1.1 408 Request Timeout');
  expect(answer).toMatch(/The upload sent \d+ bytes in 0.5 s, expected at least 20/);
  expect(fake.batches.kept.size).toBe(before);
});

it('a slow body keeps no connection open after the answer, or after a path that cannot be read', async () => {
  expect(await send('/v1/nothing', 'x')).toContain('HTTP/1.1 404');
  expect(await send('/v1/%zz', 'x')).toContain('HTTP/1.1 400');
});

it('a body whose request has been refused already is read for a short time only', async () => {
  const limits = { ...LIMITS, bodyMs: 60_000, answeredMs: 100 };
  const guarded = await fakeApp({ auth: 'on' }, {}, undefined, limits);
  await guarded.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((guarded.app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    'POST /v1/comparisons HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
  );
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => (answer += text));
  await new Promise<void>((done) => socket.once('close', () => done()));
  expect(answer).toContain('HTTP/1.1 401');
  await guarded.app.close();
});
