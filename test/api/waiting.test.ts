import { parsePrefer } from '../../src/api/intake/wait.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { finding, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let body: ReturnType<typeof form>;

beforeAll(async () => {
  fake = await fakeApp({ waitLimit: 30 });
  body = form({ before: await jpeg(10), after: await jpeg(200) });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

/** Acts as a worker as soon as the job is queued and a request waits for it. */
async function endWith(ending: (comparison: Comparison) => Comparison) {
  while (fake.queue.jobs.length === 0 || fake.events.listening === 0) await tick();
  return end(fake.queue.jobs[0]?.comparisonId as string, ending);
}
async function end(id: string, ending: (comparison: Comparison) => Comparison) {
  const stored = fake.results.kept.get(id);
  if (stored === undefined) throw new Error(`no comparison ${id}`);
  await fake.results.update(id, { comparison: ending(stored.comparison) });
  return id;
}
const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('POST /v1/comparisons with Prefer: wait=N', () => {
  it('answers 200 with the finished comparison as soon as it has finished', async () => {
    const [answer, id] = await Promise.all([fake.inject(post(body, { prefer: 'wait=20' })), endWith(finished)]);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['preference-applied']).toBe('wait=20');
    expect(answer.json()).toMatchObject({ id, status: 'finished', caption: finding.caption });
    expect(fake.events.listening).toBe(0);
  });

  it('waits by default, without Preference-Applied', async () => {
    const [answer] = await Promise.all([fake.inject(post(body, {})), endWith(finished)]);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).not.toHaveProperty('preference-applied');
  });

  it('answers 202 when the time has passed, and the comparison can be read later', async () => {
    const answer = await fake.inject(post(body, { prefer: 'wait=1' }));
    expect([answer.statusCode, answer.json().status]).toEqual([202, 'queued']);
    await end(answer.json().id, finished);
    const later = await fake.inject({ url: answer.headers.location as string });
    expect([later.statusCode, later.json().status]).toEqual([200, 'finished']);
    expect(later.headers).not.toHaveProperty('retry-after');
  });

  it('answers a failed comparison with its problem and the comparison', async () => {
    const error = new ScenedeltaError('image-unreadable', 'after ends in the middle', {
      field: 'after',
    }).toProblem();
    const [answer, id] = await Promise.all([
      fake.inject(post(body, { prefer: 'wait=20' })),
      endWith((comparison) => ({ ...comparison, status: 'failed', error })),
    ]);
    expect(answer.statusCode).toBe(422);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ ...error, comparison: { id, status: 'failed', error } });
  });

  it('answers 410 when the comparison is erased meanwhile', async () => {
    const erase = async () => {
      while (fake.queue.jobs.length === 0) await tick();
      const id = fake.queue.jobs[0]?.comparisonId;
      return fake.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` });
    };
    const [answer, erased] = await Promise.all([fake.inject(post(body, { prefer: 'wait=20' })), erase()]);
    expect(erased.statusCode).toBe(204);
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([410, 'cancelled']);
  });

  it('detects an end between the queueing and the wait', async () => {
    const add = fake.queue.addComparison.bind(fake.queue);
    fake.queue.addComparison = async (...args) => {
      await add(...args);
      await end(args[0].comparisonId, finished);
    };
    const answer = await fake.inject(post(body, { prefer: 'wait=20' }));
    fake.queue.addComparison = add;
    expect(answer.statusCode).toBe(200);
  });

  it('reads the store as it begins and when the comparison has ended, and not at all with respond-async', async () => {
    const get = fake.results.get.bind(fake.results);
    const read: string[] = [];
    fake.results.get = async (id) => {
      read.push(id);
      return get(id);
    };
    const [answer, id] = await Promise.all([fake.inject(post(body, { prefer: 'wait=20' })), endWith(finished)]);
    expect([answer.statusCode, read]).toEqual([200, [id, id]]);
    fake.queue.jobs.length = 0;
    expect((await fake.inject(post(body, { prefer: 'respond-async' }))).statusCode).toBe(202);
    fake.results.get = get;
    expect(read).toHaveLength(2);
    expect(fake.events.listening).toBe(0);
  });

  it('answers 202 if Redis is lost after the acceptance: after a 503 the caller would send it again', async () => {
    const headers = { prefer: 'wait=1', 'idempotency-key': 'lost' };
    const unavailable = async () => {
      throw new ScenedeltaError('queue-unavailable', 'Redis cannot be reached');
    };
    await fake.inject({ ...post({}), method: 'PUT', url: '/v1/cameras/gate' });
    const frame = form({ frame: await jpeg(30) });
    const [get, confirm] = [fake.results.get, fake.idempotency.confirm];
    fake.results.get = unavailable;
    fake.idempotency.confirm = unavailable;
    const answers = [
      await fake.inject(post(body, headers)),
      await fake.inject({ ...post(frame, { prefer: 'wait=1' }), url: '/v1/cameras/gate/frames' }),
    ];
    fake.results.get = get;
    fake.idempotency.confirm = confirm;
    for (const [i, answer] of answers.entries()) {
      const id = [...fake.results.kept.keys()][i];
      expect([answer.statusCode, answer.headers.location]).toEqual([202, `/v1/comparisons/${id}`]);
      expect(answer.json()).toMatchObject({ id, status: 'queued' });
    }
  });

  it('leaves nothing of a refused comparison, even if its creation timed out', async () => {
    const create = fake.results.create.bind(fake.results);
    fake.results.create = async (stored) => {
      await create(stored);
      throw new ScenedeltaError('queue-unavailable', 'creating a comparison: Redis cannot be reached');
    };
    const answer = await fake.inject(post(body));
    fake.results.create = create;
    expect([answer.statusCode, fake.results.kept.size]).toEqual([503, 0]);
  });

  it('answers every waiting request with 202 when the service closes', async () => {
    const closing = await fakeApp();
    const waiting = closing.inject(post(body, { prefer: 'wait=20' }));
    while (closing.events.listening === 0) await tick();
    await closing.app.close();
    expect((await waiting).statusCode).toBe(202);
  });
});

describe('parsePrefer', () => {
  it.each([
    [undefined, { waitSeconds: 10, applied: undefined }],
    ['wait=5', { waitSeconds: 5, applied: 'wait=5' }],
    ['wait=500', { waitSeconds: 60, applied: 'wait=60' }],
    ['wait=0', { waitSeconds: 0, applied: 'wait=0' }],
    ['Wait = "7"', { waitSeconds: 7, applied: 'wait=7' }],
    ['respond-async', { waitSeconds: 0, applied: 'respond-async' }],
    ['respond-async, wait=3', { waitSeconds: 3, applied: 'wait=3' }],
    ['wait=-1', { waitSeconds: 10, applied: undefined }],
    ['wait=soon; foo=bar, handling=strict', { waitSeconds: 10, applied: undefined }],
  ])('parses %s', (header, expected) => {
    expect(parsePrefer(header, 60)).toEqual(expected);
  });
});
