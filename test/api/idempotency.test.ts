import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let body: ReturnType<typeof form>;
let other: ReturnType<typeof form>;
let n = 0;

beforeAll(async () => {
  fake = await fakeApp();
  const [before, after] = [await jpeg(10), await jpeg(200)];
  body = form({ camera: 'gate', before, after });
  other = form({ camera: 'gate', before, after: before });
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const send = (key: string, parts = body) =>
  fake.inject(post(parts, { prefer: 'respond-async', 'idempotency-key': key }));
const freshKey = () => `key ${n++}`;

describe('Idempotency-Key', () => {
  it('answers the same request with the same comparison, marked as a replay, and one job', async () => {
    const key = freshKey();
    const [first, second] = [await send(key), await send(key)];
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.json().id).toBe(first.json().id);
    expect(fake.queue.jobs).toHaveLength(1);
  });

  it('recognises the same request in another form: fields in another order, base64 for files', async () => {
    const key = freshKey();
    const [before, after] = [await jpeg(10), await jpeg(200)];
    const first = await send(key, form({ before, after, camera: 'gate' }));
    const json = { after: after.toString('base64'), before: before.toString('base64'), camera: 'gate' };
    const second = await fake.inject(post(json, { prefer: 'respond-async', 'idempotency-key': key }));
    expect([second.statusCode, second.json().id]).toEqual([202, first.json().id]);
  });

  it('answers a replay with the current state of the comparison', async () => {
    const key = freshKey();
    const { id } = (await send(key)).json();
    const stored = fake.results.kept.get(id);
    if (stored === undefined) throw new Error('not kept');
    await fake.results.update(id, {
      comparison: { ...stored.comparison, status: 'finished', verdict: 'none', model: null },
    });
    expect([(await send(key)).statusCode, (await send(key)).json().status]).toEqual([200, 'finished']);
  });

  it('refuses another request under the same key with 422', async () => {
    const key = freshKey();
    await send(key);
    const answer = await send(key, other);
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([422, 'idempotency-mismatch']);
    expect(fake.queue.jobs).toHaveLength(1);
  });

  it('answers 409 while the first request is being accepted, and 202 for exactly one of many at once', async () => {
    const key = freshKey();
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(key)));
    const codes = answers.map((answer) => answer.statusCode);
    expect(fake.queue.jobs).toHaveLength(1);
    for (const [i, answer] of answers.entries()) {
      if (codes[i] === 409) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      else expect(answer.statusCode).toBe(202);
    }
    expect((await send(key)).headers['idempotent-replayed']).toBe('true');
  });

  it('is free again after a request that was not accepted', async () => {
    const key = freshKey();
    const add = fake.queue.addComparison;
    fake.queue.addComparison = async () => {
      throw new Error('lost');
    };
    expect((await send(key)).statusCode).toBe(500);
    fake.queue.addComparison = add;
    const answer = await send(key);
    expect(answer.statusCode).toBe(202);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('answers 410 when its comparison has been erased', async () => {
    const key = freshKey();
    const { id } = (await send(key)).json();
    await fake.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` });
    expect((await send(key)).statusCode).toBe(410);
  });

  it.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
  ])('is refused if it is %s', async (_name, key) => {
    const answer = await send(key);
    expect([answer.statusCode, answer.json().field]).toEqual([400, 'idempotency-key']);
  });

  it('may have 255 characters', async () => {
    expect((await send('x'.repeat(255))).statusCode).toBe(202);
  });
});
