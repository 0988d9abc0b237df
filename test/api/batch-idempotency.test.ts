/** Idempotency-Key of POST /v1/batches: JSON bodies, and uploads that are sent twice. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fakeApp, UPLOADS } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let key: string;
let n = 0;
beforeAll(async () => {
  fake = await fakeApp({ s3Endpoint: 'https://s3.example', s3SourceBuckets: ['archive'] });
});
beforeEach(() => {
  fake.reset();
  fake.queue.batches.length = 0;
  fake.batches.kept.clear();
  key = `key ${n++}`;
});
afterEach(() => rm(UPLOADS, { recursive: true, force: true }));
afterAll(() => fake.app.close());

const FOOTAGE = { inputs: ['s3://archive/day/'], every: '10s' };
const create = (body: object, headers: Record<string, string> = { 'idempotency-key': key }) =>
  fake.inject({ method: 'POST', url: '/v1/batches', headers, payload: body });

let boundaries = 0;
/** @param files name and bytes of each; every form has another boundary, as browsers send it */
const upload = (files: readonly (readonly [name: string, bytes: string])[], request: object = { every: '10s' }) => {
  const boundary = `form${boundaries++}`;
  const part = (head: string, body: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const footage = files.map(([name, bytes]) => part(`name="footage"; filename="${name}"`, bytes));
  return fake.inject({
    method: 'POST',
    url: '/v1/batches',
    headers: { 'idempotency-key': key, 'content-type': `multipart/form-data; boundary=${boundary}` },
    payload: `${part('name="request"', JSON.stringify(request))}${footage.join('')}--${boundary}--\r\n`,
  });
};
const uploadFolders = () => readdir(join(UPLOADS, 'batches')).catch(() => []);

describe('the same request', () => {
  it('is answered with the same batch in its current state, marked as a replay, and is queued once', async () => {
    const first = await create(FOOTAGE);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const { id } = first.json();
    await fake.batches.cancel(id, Date.now());
    const second = await create({ exact: false, every: FOOTAGE.every, inputs: FOOTAGE.inputs });
    expect([second.statusCode, second.headers['idempotent-replayed'], second.headers.location]).toEqual([
      ...[202, 'true', `/v1/batches/${id}`],
    ]);
    expect(second.json()).toMatchObject({ id, status: 'cancelled' });
    expect(fake.queue.batches).toEqual([id]);
  });

  it('with an upload keeps the first upload alone', async () => {
    const { id } = (await upload([['yard.mp4', 'film']])).json();
    const second = await upload([['yard.mp4', 'film']]);
    expect([second.statusCode, second.json().id]).toEqual([202, id]);
    expect(await uploadFolders()).toEqual([id]);
    expect(await readFile(fake.files.uploadOf(id, 1), 'utf8')).toBe('film');
    expect(fake.queue.batches).toEqual([id]);
  });

  it('without a key is another batch', async () => {
    const ids = [await create(FOOTAGE, {}), await create(FOOTAGE, {})].map((answer) => answer.json().id);
    expect(new Set(ids).size).toBe(2);
  });

  it('is answered with 410 once its batch has been erased', async () => {
    const { id } = (await upload([['yard.mp4', 'film']])).json();
    await fake.inject({ method: 'DELETE', url: `/v1/batches/${id}` });
    const answer = await upload([['yard.mp4', 'film']]);
    expect(answer.json()).toMatchObject({ status: 410, detail: expect.stringContaining(id) });
    expect(await uploadFolders()).toEqual([]);
  });
});

describe('another request under the same key', () => {
  it.each([
    ['other bytes of the same length', [['yard.mp4', 'Film']], { every: '10s' }],
    ['another name', [['gate.mp4', 'film']], { every: '10s' }],
    [
      'another file more',
      [
        ['yard.mp4', 'film'],
        ['gate.mp4', 'film'],
      ],
      { every: '10s' },
    ],
    ['other options', [['yard.mp4', 'film']], { every: '20s' }],
  ] as const)('is refused with 422: %s', async (_, files, request) => {
    const { id } = (await upload([['yard.mp4', 'film']])).json();
    const answer = await upload(files, request);
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([422, 'idempotency-mismatch']);
    expect([...fake.batches.kept.keys()]).toEqual([id]);
    expect(await uploadFolders()).toEqual([id]);
  });
});

it('the key is free again after a request that was not accepted', async () => {
  const add = fake.queue.addBatch;
  fake.queue.addBatch = async () => {
    throw new Error('lost');
  };
  expect((await upload([['yard.mp4', 'film']])).statusCode).toBe(500);
  expect([fake.batches.kept.size, await uploadFolders()]).toEqual([0, []]);
  fake.queue.addBatch = add;
  const answer = await upload([['yard.mp4', 'film']]);
  expect(answer.statusCode).toBe(202);
  expect(answer.headers).not.toHaveProperty('idempotent-replayed');
});

it('a batch that could not be erased after a failure keeps its uploads, because it is recovered and run', async () => {
  const [add, erase] = [fake.queue.addBatch, fake.batches.erase];
  fake.queue.addBatch = async () => {
    throw new Error('lost');
  };
  fake.batches.erase = () => fake.queue.addBatch({ id: '' });
  try {
    expect((await upload([['yard.mp4', 'film']])).statusCode).toBe(500);
  } finally {
    fake.queue.addBatch = add;
    fake.batches.erase = erase;
  }
  const [id = ''] = fake.batches.kept.keys();
  expect(existsSync(fake.files.uploadOf(id, 1))).toBe(true);
});

it('one of several requests at once is accepted, and the others are answered with 409 or with its batch', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(FOOTAGE)));
  expect(fake.batches.kept.size).toBe(1);
  for (const answer of answers) expect([202, 409]).toContain(answer.statusCode);
});
