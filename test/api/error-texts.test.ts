/** Texts of refusals: each names what came, what is expected, and the setting that would allow it. */
import { JSON_TYPE } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let before: Buffer;
let after: Buffer;
beforeAll(async () => {
  [before, after] = [await jpeg(10), await jpeg(200)];
  fake = await fakeApp({ frameLimit: 4096, bodyLimit: 16_384, jsonLimit: 8192 });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const detailOf = async (request: Parameters<typeof fake.inject>[0]): Promise<string> =>
  (await fake.inject(request)).json().detail;

it('A removed path names the program that took its place', async () => {
  const detail = 'There is nothing at /v1/discovery/addresses: `scenedelta onvif` finds the cameras of a network';
  expect(await detailOf({ method: 'POST', url: '/v1/discovery/addresses' })).toContain(detail);
});

describe('A refusal names the setting that would allow the request', () => {
  const frames = () => ({ before: before.toString('base64'), after: after.toString('base64') });

  it.each([
    ['OUTBOUND_ALLOW', () => post({ ...frames(), after: 'http://10.0.0.8/a.jpg' })],
    ['OUTBOUND_ALLOW', () => post({ ...frames(), callback_url: 'http://[::1]/hook' })],
    ['S3_ENDPOINT', () => post({ ...frames(), after: 's3://archive/a.jpg' })],
    ['FRAME_LIMIT', () => post(form({ before, after: Buffer.alloc(5000, 65) }))],
    ['BODY_LIMIT', () => post(form({ before, after: Buffer.alloc(20_000, 65) }))],
    ['JSON_LIMIT', () => post({ ...frames(), before: 'A'.repeat(10_000) })],
  ])('%s', async (setting, request) => {
    expect(await detailOf(request())).toContain(setting);
  });

  it('RATE_LIMIT', async () => {
    const limited = await fakeApp({ auth: 'on', rateLimit: 1 });
    const { secret } = await limited.apiKeys.create({ name: 'any', scopes: ['compare'] });
    const request = { url: '/v1/models', headers: { authorization: `Bearer ${secret}` } };
    await limited.inject(request);
    expect((await limited.inject(request)).json().detail).toContain('expected at most 1 (RATE_LIMIT)');
    await limited.app.close();
  });
});

describe('A refusal of a missing value says what is expected', () => {
  const feedback = (payload: string | undefined) =>
    fake.inject({
      method: 'POST',
      url: '/v1/changes/chg_01k9x3v5s8q2m7c4w6n1b0t9hz/feedback',
      ...(payload === undefined ? {} : { payload, headers: JSON_TYPE }),
    });

  it.each([
    ['{}', 'judgement is missing, expected one of correct, false_alarm'],
    ['{"caption":"a van"}', 'judgement is missing, expected one of correct, false_alarm'],
    ['{"judgement":"yes"}', 'judgement is the string "yes", expected one of correct, false_alarm'],
    ['null', 'The request is null, expected an object with judgement, caption'],
    ['[]', 'The request is an array, expected an object with judgement, caption'],
    [undefined, 'The request is empty, expected an object with judgement, caption'],
  ])('feedback %s', async (payload, detail) => {
    const answer = await feedback(payload);
    expect([answer.statusCode, answer.json().detail]).toEqual([400, detail]);
  });

  it('frames in JSON', async () => {
    expect(await detailOf(post({}))).toMatch(/^before and after are missing, expected a frame: \{"base64"/);
  });
});

describe('A refusal says in words what is expected, never by a regular expression', () => {
  const refusal = async (method: 'GET' | 'PUT' | 'POST', url: string, payload?: object): Promise<string> =>
    (await fake.inject({ method, url, ...(payload === undefined ? {} : { payload }) })).json().detail;
  const camera = (settings: object) => refusal('PUT', '/v1/cameras/gate', settings);
  const corner = [0, 0];

  it.each([
    [
      () => refusal('GET', '/v1/cameras/tor 7'),
      'of 1 to 64 letters, digits, ".", "_" or "-" that begins with a letter',
    ],
    [() => refusal('GET', '/v1/comparisons/abc'), 'a string of cmp_ and 26 digits or lower-case letters'],
    [() => refusal('GET', '/v1/changes?since=yesterday'), 'a time with its offset, as 2026-06-01T12:00:00Z'],
    [() => refusal('GET', '/v1/changes?q=%20'), 'with more than spaces'],
    [() => refusal('GET', '/v1/brief?day=gestern'), 'as "2026-06-01", "today" or "yesterday"'],
    [
      () => camera({ snapshot: { url: 'cam/a.jpg', interval_s: 5 } }),
      'a string of at most 2048 characters that begins with http(s):// or rtsp(s)://, without spaces',
    ],
    [() => camera({ alerts: { callback_url: 'gate.example' } }), 'begins with http(s)://, without spaces'],
    [() => camera({ rounds: [] }), 'rounds is gone: the client `scenedelta rounds` compares'],
    [() => camera({ alarms_per_day: 2 }), 'alarms_per_day is gone: its name is false_alarms_per_day'],
    [() => camera({ labels: [' north'] }), 'without spaces at its ends'],
    [() => camera({ name: 'gate\r\n3' }), 'without line ends, control characters'],
    [() => camera({ labels: ['north\u202e'] }), 'without spaces at its ends, line ends, control characters'],
    [
      () => camera({ zones: [{ id: 'a', type: 'include', polygon: [corner, corner] }] }),
      'is an array of 2, expected an array of at least 3 items and of at most 64 items',
    ],
  ])('%#: ...%s', async (refuse, words) => {
    const detail = await refuse();
    expect(detail).toContain(words);
    expect(detail).not.toMatch(/[\^$]/);
  });
});

describe('An empty text field of a form counts as absent', () => {
  const empty = { camera: '', model: '', callback_url: '', metadata: '', deadline_s: '', priority: '' };

  it('for every option', async () => {
    const answer = await fake.inject(post(form({ before, after, ...empty })));
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ camera: null });
    expect(answer.json()).not.toHaveProperty('metadata');
    expect(fake.queuedRequest()).toMatchObject({ model: null, callbackUrl: null, deadline: null });
  });

  it('for a frame, which is then missing', async () => {
    expect(await detailOf(post(form({ before, after: '' })))).toBe(
      'after is missing, expected one file each in the fields before and after',
    );
  });

  it('and not for an empty file or an empty value of JSON', async () => {
    expect((await fake.inject(post(form({ before, after: Buffer.alloc(0) })))).statusCode).toBe(422);
    expect((await fake.inject(post({ before: before.toString('base64'), after: '' }))).statusCode).toBe(400);
  });
});
