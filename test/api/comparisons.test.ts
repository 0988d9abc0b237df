import { heatmapKey } from '../../src/base/blobs.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let body: ReturnType<typeof form>;
const UNKNOWN = 'cmp_01k9x3v5s8q2m7c4w6n1b0t9hz';

beforeAll(async () => {
  fake = await fakeApp({ maxWaiting: 5, waitLimit: 0 });
  body = form({ before: await jpeg(10), after: await jpeg(200), camera: 'gate' });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const accept = async (parts = body) => (await fake.inject(post(parts))).json().id as string;

describe('GET /v1/comparisons/{id}', () => {
  it('returns an accepted comparison, with the delay until the next read', async () => {
    const id = await accept();
    const answer = await fake.inject({ url: `/v1/comparisons/${id}` });
    expect(answer.json()).toMatchObject({ id, status: 'queued', camera: 'gate' });
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.json()).not.toHaveProperty('heatmaps');
  });

  it.each([
    [UNKNOWN, 404, 'not-found'],
    ['17', 400, 'invalid-request'],
  ])('answers %s with %i %s', async (id, status, code) => {
    const answer = await fake.inject({ url: `/v1/comparisons/${id}` });
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([status, code]);
  });
});

describe('GET /v1/comparisons', () => {
  it('pages from the newest to the oldest, each comparison once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await accept());
    const seen: string[] = [];
    let url: string | undefined = '/v1/comparisons?limit=2';
    while (url !== undefined) {
      const answer: Awaited<ReturnType<typeof fake.inject>> = await fake.inject({ url });
      seen.push(...answer.json().items.map((item: { id: string }) => item.id));
      url = /<(.+)>; rel="next"/.exec(String(answer.headers.link ?? ''))?.[1];
      expect(url === undefined).toBe(answer.json().next_cursor === null);
    }
    expect(seen).toEqual([...ids].sort().reverse());
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=many',
    'verdict=maybe',
    'since=yesterday',
    'colour=red',
    'cursor=',
    'cursor=abc',
  ])('refuses ?%s, naming the parameter', async (query) => {
    const answer = await fake.inject({ url: `/v1/comparisons?${query}` });
    expect([answer.statusCode, answer.json().field]).toEqual([400, query.split('=')[0]]);
  });
});

describe('DELETE /v1/comparisons/{id}', () => {
  it('cancels waiting work, publishes the event, and erases the comparison', async () => {
    const id = await accept();
    fake.blobs.kept.set(heatmapKey(id), new Uint8Array(1));
    expect((await fake.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` })).statusCode).toBe(204);
    expect(fake.queue.cancelled).toEqual([id]);
    expect(fake.events.kept.at(-1)?.event).toMatchObject({ type: 'comparison.cancelled', subject: { id } });
    expect(fake.blobs.kept.has(heatmapKey(id))).toBe(false);
    for (const path of ['', '/frames/before', '/heatmaps/after', '/deliveries', '/events']) {
      expect((await fake.inject({ url: `/v1/comparisons/${id}${path}` })).statusCode).toBe(404);
    }
    expect((await fake.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` })).statusCode).toBe(404);
  });

  it('keeps frames that another comparison shares', async () => {
    const [first, second] = [await accept(), await accept()];
    await fake.inject({ method: 'DELETE', url: `/v1/comparisons/${first}` });
    expect((await fake.inject({ url: `/v1/comparisons/${second}/frames/before` })).statusCode).toBe(200);
  });
});

describe('When a dependency of the API fails', () => {
  it('answers a full disk with 503, and accepts again afterwards', async () => {
    fake.blobs.failNextPut = new ScenedeltaError('storage-unavailable', 'no space left on device');
    const answer = await fake.inject(post(body));
    expect([answer.statusCode, answer.json().detail]).toEqual([503, 'no space left on device']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect([fake.results.kept.size, fake.queue.jobs.length]).toEqual([0, 0]);
    expect((await fake.inject(post(body))).statusCode).toBe(202);
  });

  it('answers a queue that fails late with 503 and leaves no comparison behind', async () => {
    const add = fake.queue.addComparison;
    fake.queue.addComparison = async () => {
      throw new ScenedeltaError('queue-unavailable', 'Redis cannot be reached');
    };
    expect((await fake.inject(post(body))).statusCode).toBe(503);
    fake.queue.addComparison = add;
    expect(fake.results.kept.size).toBe(0);
  });

  it('answers 503 before it stores anything when MAX_WAITING comparisons wait', async () => {
    for (let i = 0; i < 5; i++) await accept();
    const answer = await fake.inject(post(body));
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([503, 'overloaded']);
    expect(fake.queue.jobs).toHaveLength(5);
  });

  it('answers an unexpected error with 500, and its text only reaches the log', async () => {
    const get = fake.results.get;
    fake.results.get = async () => {
      throw new Error('secret detail');
    };
    const answer = await fake.inject({ url: `/v1/comparisons/${UNKNOWN}` });
    fake.results.get = get;
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('secret');
  });
});

describe('Unknown paths and methods', () => {
  it.each([
    ['GET', '/v1/nothing', 404],
    ['PUT', '/v1/comparisons', 405],
    ['POST', '/livez', 405],
    ['PATCH', `/v1/comparisons/${UNKNOWN}`, 405],
  ] as const)('%s %s is answered with a problem of status %i', async (method, url, status) => {
    const answer = await fake.inject({
      method,
      url,
      headers: { 'content-type': 'text/x-unknown' },
      payload: 'x',
    });
    expect(answer.statusCode).toBe(status);
    if (status === 405) expect(String(answer.headers.allow)).toMatch(/GET|POST/);
  });
});
