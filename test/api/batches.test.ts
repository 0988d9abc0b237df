/** Batches at the API: acceptance, refusals, and access by other keys. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fakeApp, UPLOADS } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({
    auth: 'on',
    rateLimit: 0,
    footageLimit: 2000,
    s3Endpoint: 'https://s3.example',
    s3FrameBucket: null,
    s3SourceBuckets: ['archive'],
  });
});
beforeEach(() => fake.apiKeys.keys.clear());
afterAll(async () => {
  await fake.app.close();
  await rm(UPLOADS, { recursive: true, force: true });
});

const keyWith = async (scopes: ('batch' | 'compare' | 'admin')[], owner?: string) => {
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes, ...(owner === undefined ? {} : { owner }) });
  return { authorization: `Bearer ${secret}` };
};
const create = async (body: object, headers: Record<string, string>) =>
  fake.inject({ method: 'POST', url: '/v1/batches', headers, payload: body });
const WHEN = { inputs: ['s3://archive/day/'], mode: 'when', roi: { x: 0.1, y: 0.1, width: 0.2, height: 0.2 } };
const FOOTAGE = { inputs: ['s3://archive/day/'] };

const BOUNDARY = 'XxX';
const upload = async (parts: readonly string[], headers: Record<string, string>) =>
  fake.inject({
    method: 'POST',
    url: '/v1/batches',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    payload: `${parts.map((part) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--${BOUNDARY}--\r\n`,
  });
const file = (field: string, name: string, bytes: string) => `name="${field}"; filename="${name}"\r\n\r\n${bytes}`;

it('keeps the place and the times of a search, and serves only results of a search', async () => {
  const key = await keyWith(['batch']);
  const between = ['12.5s', '2026-06-01T12:00:00'];
  const answer = await create({ ...WHEN, between, time_zone: 'Europe/Berlin', every: '500ms' }, key);
  expect(answer.json()).toMatchObject({ mode: 'when', status: 'queued' });
  const { id } = answer.json();
  expect(fake.batches.kept.get(id)?.request.when).toEqual({
    place: WHEN.roi,
    between: { from: { seconds: 12.5 }, until: { at: Date.UTC(2026, 5, 1, 10) } },
    every: 0.5,
    covered: 60,
  });
  const corners = [
    [0.1, 0.1],
    [0.5, 0.1],
    [0.3, 0.5],
  ];
  const { roi: _, ...rest } = WHEN;
  const polygon = (await create({ ...rest, polygon: corners }, key)).json();
  expect(fake.batches.kept.get(polygon.id)?.request.when?.place).toEqual(corners);
  const picture = (name: string) => fake.inject({ url: `/v1/batches/${id}/pictures/${name}`, headers: key });
  expect((await picture('changed-before.jpg')).statusCode).toBe(410);
  expect((await picture('..%2Fplan-0.json')).statusCode).toBe(400);
});

it('needs the scope batch', async () => {
  expect((await create(FOOTAGE, await keyWith(['compare']))).statusCode).toBe(403);
  expect((await create(FOOTAGE, await keyWith(['batch']))).statusCode).toBe(202);
  expect((await create(FOOTAGE, await keyWith(['admin']))).statusCode).toBe(202);
});

it('is seen, listed, cancelled and erased by keys of its owner only', async () => {
  const mine = await keyWith(['batch'], 'mine');
  const other = await keyWith(['batch'], 'other');
  const { id } = (await create(FOOTAGE, mine)).json();
  const at = (path: string, headers: Record<string, string>, method: 'GET' | 'POST' | 'DELETE' = 'GET') =>
    fake.inject({ method, url: `/v1/batches/${id}${path}`, headers });
  expect((await at('', other)).statusCode).toBe(404);
  expect((await at('/results', other)).statusCode).toBe(404);
  expect((await at('/cancel', other, 'POST')).statusCode).toBe(404);
  expect((await at('', other, 'DELETE')).statusCode).toBe(404);
  const list = async (headers: Record<string, string>) =>
    (await fake.inject({ url: '/v1/batches', headers })).json().items.map((batch: { id: string }) => batch.id);
  expect(await list(other)).not.toContain(id);
  expect(await list(mine)).toContain(id);
  expect((await at('/results', mine)).json()).toMatchObject({ status: 409, detail: expect.stringContaining('queued') });
  expect((await at('/cancel', mine, 'POST')).json()).toMatchObject({ status: 'cancelled' });
  expect((await at('/results', mine)).statusCode).toBe(410);
  expect((await at('', mine, 'DELETE')).statusCode).toBe(204);
  expect((await at('', mine)).statusCode).toBe(404);
});

it('keeps an upload with its options, which a part of the type JSON may hold too', async () => {
  const request = 'name="request"\r\nContent-Type: application/json\r\n\r\n{"every": "10s", "settings": {"gap_s": 30}}';
  const answer = await upload([request, file('footage', 'C:\\x\\yard.mp4', 'film')], await keyWith(['batch']));
  expect(answer.statusCode).toBe(202);
  const { id } = answer.json();
  expect(fake.batches.kept.get(id)?.request).toMatchObject({
    inputs: [{ from: 'upload', name: 'yard.mp4', number: 1 }],
    every: { mode: 'seconds', seconds: 10, exact: false },
    settings: { gap_s: 30, snapshot: null },
  });
  expect(existsSync(fake.files.uploadOf(id, 1))).toBe(true);
});

it.each([
  ['a recording above FOOTAGE_LIMIT', [file('footage', 'a.mp4', 'x'.repeat(3000))], 413, 'FOOTAGE_LIMIT'],
  ['no footage', ['name="request"\r\n\r\n{}'], 422, 'no footage'],
  ['a field of another name', [file('video', 'a.mp4', 'x')], 400, 'video'],
  ['options that are no JSON', ['name="request"\r\n\r\n{', file('footage', 'a.mp4', 'x')], 400, 'request is no JSON'],
  ['two manifests', [file('manifest', 'a', '{}'), file('manifest', 'b', '{}')], 400, 'manifest is given twice'],
])('%s is refused, and nothing is left behind', async (_, parts, status, named) => {
  const before = fake.batches.kept.size;
  const answer = await upload(parts, await keyWith(['batch']));
  expect(answer.json()).toMatchObject({ status, detail: expect.stringContaining(named) });
  expect(fake.batches.kept.size).toBe(before);
});

it.each([
  [{ inputs: ['s3://other/day/'] }, 422, 'S3_SOURCE_BUCKETS'],
  [{ inputs: ['https://10.0.0.1/video.mp4'] }, 422, '10.0.0.1'],
  [{ ...FOOTAGE, template: '{nonsense' }, 422, 'template'],
  [{ ...FOOTAGE, time_zone: 'Nowhere' }, 422, 'time_zone'],
  [{ ...FOOTAGE, every: '0s' }, 422, 'every'],
  [{ ...FOOTAGE, settings: { zones: [{ id: 'a', polygon: [[0, 0]] }] } }, 400, 'zones'],
  [{ ...FOOTAGE, since: '2026-06-02T00:00:00Z', until: '2026-06-01T00:00:00Z' }, 422, 'until'],
  [{ ...FOOTAGE, metadata: 'x'.repeat(5000) }, 422, 'metadata'],
  [{ inputs: [] }, 400, 'inputs'],
  [{ ...FOOTAGE, mode: 'when' }, 422, 'neither roi nor polygon is given'],
  [
    {
      ...WHEN,
      polygon: [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
    },
    422,
    'both given',
  ],
  [{ ...WHEN, roi: { x: 0.9, y: 0, width: 0.2, height: 0.1 } }, 422, 'roi is 0.9,0,0.2,0.1'],
  [
    {
      ...FOOTAGE,
      mode: 'when',
      polygon: [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
      ],
    },
    422,
    'polygon crosses itself',
  ],
  [{ ...WHEN, between: ['20s', '10s'] }, 422, 'the earlier one first'],
  [{ ...WHEN, between: ['12', '20s'] }, 422, 'between is 12'],
  [{ ...WHEN, between: ['10s'] }, 400, 'between'],
  [{ ...WHEN, every: 'keyframes' }, 422, 'every is keyframes'],
  [{ ...WHEN, across_gaps: true }, 422, 'across_gaps belongs to mode changes'],
  [{ ...FOOTAGE, covered_s: 10 }, 422, 'covered_s belongs to mode when'],
  [{ ...FOOTAGE, mode: 'why' }, 400, 'mode'],
])('%j is refused before work begins', async (request, status, named) => {
  const answer = await create(request, await keyWith(['batch']));
  expect(answer.json()).toMatchObject({ status, detail: expect.stringContaining(named) });
});

describe('a picture of a change or visit', () => {
  it.each(['chg_01k9x3v5s8q2m7c4w6n1b0t9hz-after.jpg', 'vis_01k9x3v5s8q2m7c4w6n1b0t9hz.jpg'])(
    'is read by its owner alone, and is gone once it has been swept: %s',
    async (NAME) => {
      const mine = await keyWith(['batch'], 'mine');
      const { id } = (await create(FOOTAGE, mine)).json();
      const read = async (headers: Record<string, string>, name = NAME) =>
        fake.inject({ url: `/v1/batches/${id}/pictures/${name}`, headers });
      expect((await read(mine)).statusCode).toBe(410);
      await fake.blobs.put(`batches/${id}/pictures/${NAME}`, Buffer.from('jpeg'));
      const { statusCode, headers, body } = await read(mine);
      expect([statusCode, headers['content-type'], headers['x-content-type-options'], body]).toEqual([
        ...[200, 'image/jpeg', 'nosniff', 'jpeg'],
      ]);
      expect((await read(await keyWith(['batch'], 'other'))).statusCode).toBe(404);
      expect((await read(mine, '..%2Fresults%2Fchanges.json')).statusCode).toBe(400);
    },
  );
});

it('serves captions under a name that players know', async () => {
  const mine = await keyWith(['batch'], 'mine');
  const { id } = (await create(FOOTAGE, mine)).json();
  const batch = fake.batches.kept.get(id);
  if (batch !== undefined) fake.batches.kept.set(id, { ...batch, status: 'completed' });
  await fake.blobs.put(`batches/${id}/results/vtt.json`, Buffer.from('[{"name":"gate.mp4","video":"gate.mp4"}]'));
  await fake.blobs.put(`batches/${id}/results/vtt-1`, Buffer.from('WEBVTT'));
  const answer = await fake.inject({ url: `/v1/batches/${id}/results?format=vtt`, headers: mine });
  expect([answer.body, answer.headers['content-disposition']]).toEqual([
    ...['WEBVTT', `attachment; filename="${id}-vtt-1.vtt"`],
  ]);
});

it('serves its visits, one per line', async () => {
  const mine = await keyWith(['batch'], 'mine');
  const { id } = (await create(FOOTAGE, mine)).json();
  const batch = fake.batches.kept.get(id);
  if (batch !== undefined) fake.batches.kept.set(id, { ...batch, status: 'completed' });
  await fake.blobs.put(`batches/${id}/results/visits.ndjson`, Buffer.from('{"kind":"visit"}\n'));
  const { results } = (await fake.inject({ url: `/v1/batches/${id}`, headers: mine })).json();
  const answer = await fake.inject({ url: results.visits, headers: mine });
  expect([answer.body, answer.headers['content-type']]).toEqual(['{"kind":"visit"}\n', 'application/x-ndjson']);
});

it('keeps which cameras its key may use', async () => {
  const cameras = ['yard', 'gate-*'];
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['batch'], owner: 'mine', cameras });
  const { id } = (await create(FOOTAGE, { authorization: `Bearer ${secret}` })).json();
  expect(fake.batches.kept.get(id)?.request.visibility).toEqual({ owner: 'mine', cameras });
});

it('goes on after it was cancelled, once no worker holds a step of it', async () => {
  const mine = await keyWith(['batch'], 'mine');
  const { id } = (await create(FOOTAGE, mine)).json();
  const post = (path: string, headers = mine) =>
    fake.inject({ method: 'POST', url: `/v1/batches/${id}/${path}`, headers });
  expect((await post('retry')).json()).toMatchObject({ status: 422, detail: expect.stringContaining('queued') });
  await post('cancel');
  expect((await post('retry', await keyWith(['batch'], 'other'))).statusCode).toBe(404);
  fake.queue.held.add(id);
  expect((await post('retry')).json()).toMatchObject({ status: 409, detail: expect.stringContaining(id) });
  fake.queue.held.clear();
  expect((await post('retry')).json()).toMatchObject({ id, status: 'queued', finished_at: null });
  expect(fake.queue.batches.filter((one) => one === id)).toHaveLength(2);
});
