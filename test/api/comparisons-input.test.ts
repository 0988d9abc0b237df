/** Bodies that POST /v1/comparisons accepts. */
import { jest } from '@jest/globals';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

type Fake = Awaited<ReturnType<typeof fakeApp>>;
let fake: Fake;
let before: Buffer;
let after: Buffer;

beforeAll(async () => {
  [before, after] = [await jpeg(10), await jpeg(200)];
  // One test waits without a header.
  const waitLimit = 1;
  fake = await fakeApp({ waitLimit, frameLimit: 4096, bodyLimit: 16_384, s3Endpoint: 'https://s3.example' });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const base64 = () => ({ before: before.toString('base64'), after: after.toString('base64') });

describe('POST /v1/comparisons accepts', () => {
  it('two files of a form, and stores them by content', async () => {
    const answer = await fake.inject(
      post(form({ before, after, camera: 'gate-3', deadline_s: '30', truth: '0.75', metadata: '{"ticket":7}' })),
    );
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ status: 'queued', camera: 'gate-3', metadata: { ticket: 7 } });
    expect(answer.headers.location).toBe(`/v1/comparisons/${answer.json().id}`);
    expect(answer.headers['retry-after']).toBe('2');
    const request = fake.queuedRequest();
    expect(request?.before).toMatchObject({
      from: 'stored',
      bytes: before.length,
      contentType: 'image/jpeg',
    });
    expect(request?.truth).toBe(0.75);
    expect((request?.deadline ?? 0) - (request?.acceptedAt ?? 0)).toBe(30_000);
    const kept = [...fake.blobs.kept.values()].map((bytes) => Buffer.from(bytes));
    expect(kept).toEqual([before, after]);
  });

  it('base64 in both alphabets and data URLs, and stores the encoded bytes', async () => {
    const forms = [
      base64(),
      { before: { base64: before.toString('base64url') }, after: { base64: after.toString('base64') } },
      { before: `data:image/jpeg;base64,${before.toString('base64')}`, after: after.toString('base64') },
    ];
    for (const body of forms) {
      expect((await fake.inject(post(body))).statusCode).toBe(202);
      expect([...fake.blobs.kept.values()].map((bytes) => Buffer.from(bytes))).toEqual([before, after]);
    }
  });

  it.each([
    ['strings', 'https://cam.example/a.jpg', 's3://archive/2026/b.jpg'],
    ['objects', { url: 'https://cam.example/a.jpg' }, { s3: { bucket: 'archive', key: '2026/b.jpg' } }],
  ])('addresses as %s, and queues them without fetching', async (_name, first, second) => {
    const answer = await fake.inject(post({ before: first, after: second }));
    expect(answer.statusCode).toBe(202);
    expect(fake.queuedRequest()).toMatchObject({
      before: { from: 'url', url: 'https://cam.example/a.jpg' },
      after: { from: 's3', bucket: 'archive', key: '2026/b.jpg' },
    });
    expect(fake.blobs.kept.size).toBe(0);
  });

  it('a file and an address in one form', async () => {
    const answer = await fake.inject(post(form({ before, after: 'https://cam.example/b.jpg' })));
    expect(answer.statusCode).toBe(202);
    expect(fake.queuedRequest()?.after).toEqual({ from: 'url', url: 'https://cam.example/b.jpg' });
  });

  it('the same bytes twice, and writes them once', async () => {
    const put = jest.spyOn(fake.blobs, 'put');
    expect((await fake.inject(post(form({ before, after: before })))).statusCode).toBe(202);
    expect(put).toHaveBeenCalledTimes(1);
  });

  it('archive work for a queue of its own, and unattended work with a lower priority than live work', async () => {
    await fake.inject(post(form({ before, after, priority: 'archive' })));
    await fake.inject(post(form({ before, after, callback_url: 'https://example.org/hook' })));
    await fake.inject(post(form({ before, after })));
    await fake.inject(post(form({ before, after }), {}));
    expect(fake.queue.jobs.map(({ queue, priority }) => [queue, priority])).toEqual([
      ['archive', 100],
      ['live', 5],
      ['live', 5],
      ['live', 0],
    ]);
  });

  it('a traceparent, whose trace id reaches the job and the answer', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { prefer: 'respond-async', traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    const answer = await fake.inject(post(form({ before, after }), headers));
    expect(answer.headers['trace-id']).toBe(trace);
    expect(fake.queue.jobs[0]?.traceId).toBe(trace);
    expect(fake.queuedRequest()?.traceparent).toBe(headers.traceparent);
  });

  it.each([
    ['none', undefined],
    ['one of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['one without a span', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['text', 'geheim'],
  ])('%s as traceparent, for which a new trace id is made and nothing is handed on', async (_what, traceparent) => {
    const headers = { prefer: 'respond-async', ...(traceparent === undefined ? {} : { traceparent }) };
    const answer = await fake.inject(post(form({ before, after }), headers));
    expect(answer.headers['trace-id']).toMatch(/^(?!0{32}|4bf9)[0-9a-f]{32}$/);
    expect(fake.queuedRequest()).not.toHaveProperty('traceparent');
  });
});
