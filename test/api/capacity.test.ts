/** Limits of the queue: of each owner, and for comparisons other than frames of cameras. */
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0, maxWaiting: 10, ownerShare: 50, cameraReserve: 20 });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

const key = async (owner: string) => {
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'], owner, cameras: ['*'] });
  return { 'x-api-key': secret, prefer: 'respond-async' };
};
type Key = Awaited<ReturnType<typeof key>>;
const compare = async (headers: Key) =>
  fake.inject(post(form({ before: await jpeg(), after: await jpeg(9) }), headers));
const sendFrame = async (headers: Key) =>
  fake.inject({ ...post(form({ frame: await jpeg() }), headers), url: '/v1/cameras/gate/frames' });
const setUpGate = async () => {
  const { secret } = await fake.apiKeys.create({ name: 'root', scopes: ['admin'] });
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' };
  await fake.inject({ method: 'PUT', url: '/v1/cameras/gate', headers, payload: '{}' });
};

describe('The share of an owner', () => {
  it('ends with 429, the counts and Retry-After, for all keys of the owner, and others are served', async () => {
    const [bulk, second, other] = [await key('bulk'), await key('bulk'), await key('other')];
    for (let i = 0; i < 5; i++) expect((await compare(bulk)).statusCode).toBe(202);
    for (const headers of [bulk, second]) {
      const refused = await compare(headers);
      expect(refused.statusCode).toBe(429);
      expect(refused.headers['retry-after']).toBe('10');
      expect(refused.json()).toMatchObject({
        type: 'https://scenedelta.dev/errors/queue-share-used',
        detail:
          '5 comparisons of the owner bulk are unfinished, expected fewer than 5 (OWNER_SHARE: 50 % of MAX_WAITING)',
      });
    }
    expect((await compare(other)).statusCode).toBe(202);
    const [first] = [...fake.results.kept.values()];
    const { comparison } = first ?? acceptedComparison();
    await fake.results.update(comparison.id, { comparison: finished(comparison) });
    expect((await compare(bulk)).statusCode).toBe(202);
  });
});

describe('The part of the queue that is kept for cameras', () => {
  it('takes their frames while comparisons get 503', async () => {
    await setUpGate();
    const [a, b] = [await key('a'), await key('b')];
    for (let i = 0; i < 8; i++) expect((await compare(i < 4 ? a : b)).statusCode).toBe(202);
    const refused = await compare(a);
    expect([refused.statusCode, refused.headers['retry-after'], refused.json().detail]).toEqual([
      503,
      '10',
      '8 comparisons are waiting, expected fewer than 8 (MAX_WAITING without the 2 that CAMERA_RESERVE keeps for cameras)',
    ]);
    const camera = await key('camera');
    for (let i = 0; i < 2; i++) expect((await sendFrame(camera)).statusCode).toBe(202);
    const full = await sendFrame(camera);
    expect([full.statusCode, full.json().detail]).toEqual([
      503,
      '10 comparisons are waiting, expected fewer than 10 (MAX_WAITING)',
    ]);
  });
});

describe('The deadline', () => {
  it("of a camera's frame is CAMERA_DEADLINE by default, and deadline_s otherwise", async () => {
    await setUpGate();
    const camera = await key('camera');
    const waits = async (fields: Record<string, string>) => {
      const body = form({ frame: await jpeg(), ...fields });
      const { id } = (await fake.inject({ ...post(body, camera), url: '/v1/cameras/gate/frames' })).json();
      const { deadline, acceptedAt } = fake.results.kept.get(id)?.request ?? {};
      return (deadline ?? 0) - (acceptedAt ?? 0);
    };
    expect(await waits({})).toBe(3_600_000);
    expect(await waits({ deadline_s: '5' })).toBe(5_000);
  });
});
