/** Requests that no client sends by accident: each gets a 4xx that says what is wrong, never a 500. */
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { buildApp } from '../../src/api/app.js';
import type { ApiDependencies } from '../../src/api/dependencies.js';
import { loadConfig } from '../../src/process/config.js';
import { createLogger } from '../../src/process/logger.js';
import { fakeApp } from '../helpers/fake-app.js';
import { partial } from '../helpers/partial.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ bodyLimit: 65_536 });
  await fake.app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

/** Sends text over a connection of its own. @returns the status and the problem */
async function raw(...chunks: (string | Buffer)[]) {
  const socket = connect((fake.app.server.address() as AddressInfo).port, '127.0.0.1');
  for (const chunk of chunks) socket.write(chunk);
  const answer = await text(socket);
  return { status: Number(answer.split(' ')[1]), problem: JSON.parse(answer.slice(answer.indexOf('{'))) };
}

describe('A path', () => {
  it.each(['cameras', 'comparisons', 'changes', 'models'])(
    'with a parameter of 3000 characters under /v1/%s is not found',
    async (resource) => {
      const answer = await fake.app.inject({ url: `/v1/${resource}/${'x'.repeat(3000)}` });
      expect(answer.statusCode).toBe(404);
      expect(answer.headers['trace-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(answer.json().detail).toMatch(
        /^There is nothing at \/v1\/\w+\/x+\.\.\. \(30\d\d characters\): a part of a path has at most 200 characters$/,
      );
    },
  );

  it('is logged in short', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'debug', name: 'test' }, { write: (line: string) => void lines.push(line) });
    const options = loadConfig({ AUTH: 'off' });
    const app = await buildApp(partial<ApiDependencies>({ ...fake }), options, logger);
    const url = 'x'.repeat(3000);
    for (const path of [`/v1/cameras/${url}`, `/${url}`, `/%${url}`]) await app.inject({ url: path });
    await app.close();
    expect(lines.length).toBeGreaterThan(0);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1000);
  });

  it.each([
    '/docs/static/../..',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/%2e%2e/%2e%2e/',
    '/docs/static/x',
  ])('%s is not found', async (path) => {
    const { status, problem } = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect([status, problem.type]).toEqual([404, 'https://scenedelta.dev/errors/not-found']);
  });

  it.each(['TRACE', 'PATCH', 'DELETE'] as const)('answers 405 to %s with the methods that it takes', async (method) => {
    const answer = await fake.inject({ method: method as 'PATCH', url: '/v1/models' });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('A query', () => {
  it.each(['true', '1e1', '0x10', '%2010', '1.5', '', 'null'])('limit=%s is refused', async (limit) => {
    const answer = await fake.inject({ url: `/v1/comparisons?limit=${limit}` });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ field: 'limit' });
    expect(answer.json().detail).toContain('expected an integer');
  });

  it('limit=10 is accepted', async () => {
    expect((await fake.inject({ url: '/v1/comparisons?limit=10' })).statusCode).toBe(200);
  });
});

describe('A form', () => {
  it.each([253, 300, 3000])('with a boundary of %d characters is malformed', async (length) => {
    for (const quote of ['', '"']) {
      const type = `multipart/form-data; boundary=${quote}${'b'.repeat(length)}${quote}`;
      const answer = await fake.inject({ ...post({}), headers: { 'content-type': type } });
      expect([answer.statusCode, answer.json().detail]).toEqual([
        400,
        `The boundary of the form has ${length} characters, expected at most 70 (RFC 2046)`,
      ]);
    }
  });

  it('with a boundary of 252 characters is read', async () => {
    const { payload } = form({ before: await jpeg(10), after: await jpeg(200) });
    const boundary = 'b'.repeat(252);
    const body = payload.toString('latin1').replaceAll('----scenedelta-test-boundary', boundary);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, prefer: 'respond-async' };
    const answer = await fake.inject({ ...post({}), payload: Buffer.from(body, 'latin1'), headers });
    expect(answer.statusCode).toBe(202);
  });

  it.each([
    ['a preamble', ''],
    ['an epilogue', '--b\r\nContent-Disposition: form-data; name="camera"\r\n\r\na\r\n--b--\r\n'],
    ['a field', '--b\r\nContent-Disposition: form-data; name="camera"\r\n\r\n'],
  ])('in chunks with %s above BODY_LIMIT is refused while it is sent', async (_name, start) => {
    const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
    const { status, problem } = await raw(
      'POST /v1/comparisons HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n' +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n',
      ...(start === '' ? [] : [chunk(start)]),
      ...Array.from({ length: 9 }, () => chunk('x'.repeat(8192))),
      // The last chunk is never sent.
    );
    expect([status, problem.type.split('/').at(-1)]).toEqual([413, 'payload-too-large']);
  });
});

it('A request with two Host headers is refused', async () => {
  const { status, problem } = await raw('GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n');
  expect([status, problem.detail]).toEqual([400, 'The request has 2 Host headers, expected one']);
});
