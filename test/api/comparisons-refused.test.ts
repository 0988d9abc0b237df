/** Bodies that POST /v1/comparisons refuses, with the problem of each. */
import { fakeApp, MODEL, workerWith } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

type Fake = Awaited<ReturnType<typeof fakeApp>>;
let fake: Fake;
let before: Buffer;
let after: Buffer;

beforeAll(async () => {
  [before, after] = [await jpeg(10), await jpeg(200)];
  fake = await fakeApp({ frameLimit: 4096, bodyLimit: 16_384, s3Endpoint: 'https://s3.example' });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const base64 = () => ({ before: before.toString('base64'), after: after.toString('base64') });

describe('POST /v1/comparisons refuses', () => {
  const refusal = async (request: ReturnType<typeof post>) => {
    const answer = await fake.inject(request);
    const { type, detail, field } = answer.json();
    expect(fake.queue.jobs).toHaveLength(0);
    return [answer.statusCode, type.split('/').at(-1), field, detail] as const;
  };

  it('zero bytes', async () => {
    expect(await refusal(post(form({ before, after: Buffer.alloc(0) })))).toEqual([
      422,
      'image-unreadable',
      'after',
      'after has 0 bytes: expected a JPEG, PNG, WebP, AVIF, TIFF or GIF image',
    ]);
  });

  it('bytes without an image signature, in a form and in base64', async () => {
    const text = Buffer.from('<!doctype html>');
    const problem = [422, 'image-unreadable', 'before', expect.stringContaining('starts with 3c21646f')];
    expect(await refusal(post(form({ before: text, after })))).toEqual(problem);
    expect(await refusal(post({ ...base64(), before: text.toString('base64') }))).toEqual(problem);
  });

  it('a frame larger than FRAME_LIMIT, naming the field', async () => {
    const large = Buffer.concat([after, Buffer.alloc(4096)]);
    const problem = [413, 'payload-too-large', 'after', 'after is larger than 4096 bytes (FRAME_LIMIT)'];
    expect(await refusal(post(form({ before, after: large })))).toEqual(problem);
    expect(await refusal(post({ ...base64(), after: large.toString('base64') }))).toEqual(problem);
  });

  it('a body larger than BODY_LIMIT, in either form', async () => {
    const large = Buffer.alloc(20_000, 65);
    expect((await refusal(post(form({ before: large, after }))))[0]).toBe(413);
    expect((await refusal(post({ before: large.toString(), after: 'x' }))).slice(0, 2)).toEqual([
      413,
      'payload-too-large',
    ]);
  });

  it('a JSON body larger than JSON_LIMIT, with advice; a form of that size is accepted', async () => {
    const small = await fakeApp({ jsonLimit: 1024, bodyLimit: 16_384, frameLimit: 4096 });
    const large = Buffer.concat([after, Buffer.alloc(2048, 65)]);
    const json = await small.inject(post({ ...base64(), after: large.toString('base64') }));
    expect([json.statusCode, json.json().type]).toEqual([413, expect.stringContaining('payload-too-large')]);
    expect(json.json().detail).toMatch(/^The JSON body has \d+ bytes, more than JSON_LIMIT allows; send .*multipart/);
    expect((await small.inject(post(form({ before, after: large })))).statusCode).toBe(202);
    await small.app.close();
  });

  it.each(['text/plain', 'image/jpeg', 'application/xml'])('a body of type %s', async (type) => {
    const request = { ...post({}), payload: before, headers: { 'content-type': type } };
    expect(await refusal(request as never)).toEqual([
      415,
      'unsupported-media-type',
      undefined,
      `Content-Type is ${type}, expected multipart/form-data or application/json`,
    ]);
  });

  it('no body at all', async () => {
    expect((await refusal({ method: 'POST', url: '/v1/comparisons' } as never)).slice(0, 2)).toEqual([
      415,
      'unsupported-media-type',
    ]);
  });

  it.each([
    ['truncated JSON', '{"before": "', 'application/json'],
    ['an empty JSON body', '', 'application/json'],
    ['a form without boundary', 'hello', 'multipart/form-data'],
    [
      'a truncated form',
      '--b\r\nContent-Disposition: form-data; name="camera"\r\n\r\nga',
      'multipart/form-data; boundary=b',
    ],
  ])('%s', async (_name, payload, type) => {
    const [status, code] = await refusal({
      ...post({}),
      payload,
      headers: { 'content-type': type },
    } as never);
    expect([status, code]).toEqual([400, 'malformed-body']);
  });

  it('missing frames, naming them', async () => {
    expect(await refusal(post(form({ after })))).toEqual([
      400,
      'invalid-request',
      'before',
      'before is missing, expected one file each in the fields before and after',
    ]);
    expect((await refusal(post({ camera: 'x' }))).slice(0, 3)).toEqual([400, 'invalid-request', 'before']);
  });

  it('unknown fields, naming them and the known ones', async () => {
    const [status, , field, detail] = await refusal(post({ ...base64(), calback_url: 'https://x.example' }));
    expect([status, field]).toEqual([400, 'calback_url']);
    expect(detail).toContain('callback_url');
    expect((await refusal(post(form({ before, after, colour: 'red' })))).slice(0, 3)).toEqual([
      400,
      'invalid-request',
      'colour',
    ]);
    expect((await refusal(post(form({ before, after, third: before })))).slice(0, 3)).toEqual([
      400,
      'invalid-request',
      'third',
    ]);
  });

  it('a frame that is given twice', async () => {
    const parts = [
      ['before', before],
      ['before', after],
    ] as const;
    expect((await refusal(post(form(parts)))).slice(0, 3)).toEqual([400, 'invalid-request', 'before']);
  });

  const wrong: Record<string, readonly unknown[]> = {
    before: [5, true, null, [], {}, { base64: 5 }, { url: 'ftp://x' }, { s3: 'bucket' }, { s3: { bucket: 'b' } }, ''],
    after: [5, true, null, ['x'], { path: '/etc/passwd' }, { base64: 'QQ', url: 'https://x' }],
    camera: [5, true, null, [], {}, '', 'a b', 'x'.repeat(65)],
    model: [5, true, null, [], {}, '', 'x'.repeat(129)],
    callback_url: [5, true, null, [], {}, '', 'ftp://x.example', 'example.org', `https://x/${'y'.repeat(2048)}`],
    deadline_s: ['30', true, null, [], {}, 0, -1, 86_401],
    priority: [5, true, null, [], {}, 'urgent'],
    truth: ['0.9', true, null, [], {}, 0, 0.49, 1, 90],
  };
  const cases = Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => [field, JSON.stringify(value).slice(0, 40), value] as const),
  );
  it.each(cases)('%s that is %s', async (field, _shown, value) => {
    const [status, code, named, detail] = await refusal(post({ ...base64(), [field]: value }));
    expect([status, code]).toEqual([400, 'invalid-request']);
    expect(named?.split('/')[0]).toBe(field);
    expect(detail).toContain('expected');
  });

  it('metadata of more than 4096 bytes or, in a form, no JSON, which fits the schema', async () => {
    const [status, code, field] = await refusal(post({ ...base64(), metadata: 'x'.repeat(5000) }));
    expect([status, code, field]).toEqual([422, 'invalid-value', 'metadata']);
    const text = await refusal(post(form({ before, after, metadata: '{not json' })));
    expect(text).toEqual([
      422,
      'invalid-value',
      'metadata',
      'metadata is {not json, expected JSON: unexpected "n" at line 1, column 2',
    ]);
  });

  it('invalid fields of a form, naming the field', async () => {
    for (const [field, value] of [
      ['deadline_s', 'soon'],
      ['priority', 'urgent'],
      ['truth', '1'],
      ['truth', 'high'],
      ['before', 'not*base64'],
      ['before', 's3://'],
      ['before', 'data:image/jpeg,raw'],
    ] as const) {
      const parts: [string, Buffer | string][] = [
        ...(field === 'before' ? [] : [['before', before] as [string, Buffer]]),
        ['after', after],
        [field, value],
      ];
      expect((await refusal(post(form(parts)))).slice(0, 3)).toEqual([400, 'invalid-request', field]);
    }
  });

  it.each([
    ['before', 'http://127.0.0.1/a.jpg'],
    ['before', 'http://[::1]/a.jpg'],
    ['after', 'http://169.254.169.254/latest/meta-data'],
    ['after', 'http://2130706433/'],
    ['callback_url', 'http://10.0.0.8/hook'],
    ['callback_url', 'https://user:secret@example.org/hook'],
  ])('%s at %s, a forbidden address', async (field, url) => {
    expect((await refusal(post({ ...base64(), [field]: url }))).slice(0, 3)).toEqual([422, 'url-refused', field]);
  });

  it('s3:// frames if no S3 service is configured', async () => {
    const other = await fakeApp({ s3Endpoint: null });
    const answer = await other.inject(post({ before: 's3://bucket/key', after: 's3://bucket/key' }));
    expect([answer.statusCode, answer.json().field]).toEqual([422, 'before']);
    await other.app.close();
  });

  it.each([
    ['frames', "is the service's own bucket"],
    ['payroll', 'S3_SOURCE_BUCKETS'],
  ])('s3:// frames in the bucket %s, which is not a source bucket', async (bucket, why) => {
    const other = await fakeApp({
      s3Endpoint: 'https://s3.example',
      s3FrameBucket: 'frames',
      s3SourceBuckets: ['archive', 'frames'],
    });
    const ask = (named: string) =>
      other.inject(post({ before: { s3: { bucket: named, key: 'a.jpg' } }, after: 's3://archive/b.jpg' }));
    const refused = await ask(bucket);
    expect([refused.statusCode, refused.json().field]).toEqual([422, 'before']);
    expect(refused.json().detail).toContain(why);
    expect((await ask('archive')).statusCode).toBe(202);
    await other.app.close();
  });

  it.each(['../payroll/a.jpg', 'a/../../payroll/a.jpg', './a.jpg', 'a//b.jpg', '/a.jpg', 'a/', '..'])(
    'an s3:// frame with the key %s, which URL parsing would change',
    async (key) => {
      for (const value of [`s3://archive/${key}`, { s3: { bucket: 'archive', key } }]) {
        const [status, code, field, detail] = await refusal(post({ ...base64(), after: value }));
        expect([status, code, field]).toEqual([400, 'invalid-request', 'after']);
        expect(detail).toContain('expected a key without');
      }
    },
  );

  it('a model that no live worker serves; without a live worker the model is checked later', async () => {
    expect((await fake.inject(post(form({ before, after, model: 'scorer-x' })))).statusCode).toBe(202);
    fake.workers.live = [workerWith(MODEL)];
    const answer = await fake.inject(post(form({ before, after, model: 'scorer-x' })));
    expect([answer.statusCode, answer.json().field]).toEqual([422, 'model']);
    expect(answer.json().detail).toBe('model is "scorer-x", expected one of scorer-surveillance');
    expect((await fake.inject(post(form({ before, after, model: MODEL.name })))).statusCode).toBe(202);
  });
});
