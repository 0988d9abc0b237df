/** Bodies of requests as the libraries of other people write them: parts without file names, in base64, compressed. */
import { gzipSync } from 'node:zlib';
import { fakeApp } from '../helpers/fake-app.js';
import { jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let before: Buffer;
let after: Buffer;

beforeAll(async () => {
  [before, after] = [await jpeg(10), await jpeg(200)];
  fake = await fakeApp({ frameLimit: 4096, bodyLimit: 32_768 });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const part = (name: string, lines: readonly string[], content: Buffer | string) =>
  Buffer.concat([
    Buffer.from(['--b', `Content-Disposition: form-data; name="${name}"`, ...lines, '', ''].join('\r\n')),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const sent = (...parts: readonly Buffer[]) =>
  fake.inject(
    post({
      payload: Buffer.concat([...parts, Buffer.from('--b--\r\n')]),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    }),
  );
const stored = () => [...fake.blobs.kept.values()].map((bytes) => Buffer.from(bytes));
/** As mail libraries write it: lines of 76 characters. */
const inLines = (bytes: Buffer) => bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
const IN_BASE64 = ['Content-Type: image/jpeg', 'Content-Transfer-Encoding: base64'];

it('takes parts without a file name whose type is an image', async () => {
  const type = ['Content-Type: image/jpeg'];
  const answer = await sent(part('before', type, before), part('after', type, after));
  expect([answer.statusCode, stored()]).toEqual([202, [before, after]]);
});

it('decodes files and fields with the Content-Transfer-Encoding base64', async () => {
  const metadata = Buffer.from('{"ticket":"é"}').toString('base64');
  const answer = await sent(
    part('before', IN_BASE64, inLines(before)),
    part('after', IN_BASE64, inLines(after)),
    part('metadata', ['Content-Type: text/plain', 'Content-Transfer-Encoding: BASE64'], metadata),
  );
  expect([answer.statusCode, stored()]).toEqual([202, [before, after]]);
  expect(answer.json().metadata).toEqual({ ticket: 'é' });
});

it('holds the decoded bytes to FRAME_LIMIT', async () => {
  const large = Buffer.concat([after, Buffer.alloc(4096)]);
  const answer = await sent(part('before', IN_BASE64, inLines(before)), part('after', IN_BASE64, inLines(large)));
  expect(answer.json()).toMatchObject({ status: 413, detail: 'after is larger than 4096 bytes (FRAME_LIMIT)' });
});

it.each([
  [
    'quoted-printable',
    '=FF=D8',
    'before has the Content-Transfer-Encoding "quoted-printable", expected binary or base64',
  ],
  ['base64', 'b"/9j"', 'before has the Content-Transfer-Encoding base64 and the character "\\"", expected base64'],
])('refuses a part in %s that it cannot decode, naming it', async (encoding, content, detail) => {
  const answer = await sent(
    part('before', ['Content-Type: image/jpeg', `Content-Transfer-Encoding: ${encoding}`], content),
    part('after', IN_BASE64, inLines(after)),
  );
  expect(answer.json()).toMatchObject({ status: 400, field: 'before', detail });
});

it.each(['gzip', 'x-gzip', 'deflate', 'br', 'gzip, identity'])(
  'refuses a body compressed by %s, by name',
  async (c) => {
    const json = JSON.stringify({ before: before.toString('base64'), after: after.toString('base64') });
    const request = post({ payload: gzipSync(json), headers: { 'content-type': 'application/json' } });
    const answer = await fake.inject({ ...request, headers: { ...request.headers, 'content-encoding': c } });
    expect(answer.json()).toMatchObject({
      status: 415,
      detail: `Content-Encoding is ${c}, expected none: bodies are taken without compression`,
    });
    expect(answer.headers['accept-encoding']).toBe('identity');
  },
);

it('takes a body whose Content-Encoding is identity', async () => {
  const json = { before: before.toString('base64'), after: after.toString('base64') };
  const request = post(json, { prefer: 'respond-async', 'content-encoding': 'identity' });
  expect((await fake.inject(request)).statusCode).toBe(202);
});
