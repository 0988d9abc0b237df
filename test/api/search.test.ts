/** The search over changes by HTTP. */
import { encodeCursor } from '../../src/stores/redis/pages.js';
import { storedChange } from '../helpers/changes.js';
import { fakeApp } from '../helpers/fake-app.js';
import { storedVisit } from '../helpers/visits.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let guarded: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp();
  guarded = await fakeApp({ auth: 'on', rateLimit: 0 });
});
beforeEach(() => {
  fake.reset();
  guarded.reset();
});
afterAll(() => Promise.all([fake.app.close(), guarded.app.close()]));

const NOON = Date.parse('2026-01-05T12:00:00Z');
const keep = (caption: string, given: Parameters<typeof storedChange>[0] = {}, app = fake) => {
  const change = storedChange({ name: caption, caption, ...given });
  app.changes.kept.push(change);
  return change;
};
const get = async (query: string, headers = {}, app = fake) => {
  const { statusCode, body, headers: answered } = await app.inject({ url: `/v1/changes?${query}`, headers });
  return { statusCode, body: JSON.parse(body), link: answered.link };
};
const ids = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id);

describe('GET /v1/changes?q=', () => {
  it('answers with the changes, why they were found, and how the query was understood', async () => {
    const truck = keep('a white truck has appeared');
    keep('a person has appeared');
    const { body } = await get('q=white+lorry+yesterday');
    const words = [
      { word: 'white', matched: 'white' },
      { word: 'lorry', matched: 'truck' },
    ];
    expect(body).toEqual({
      items: [{ ...truck, match: { score: 0.01639, words } }],
      next_cursor: null,
      search: {
        interpreted_as: [{ word: 'lorry', as: ['truck'], by: 'synonym' }],
        unknown_words: ['yesterday'],
        all_words: false,
        complete: true,
        changes: 2,
        compared_vectors: 0,
        words_alone: 'no_worker',
      },
      visits: { items: [], next_cursor: null },
    });
  });

  it('finds visits beside the changes on the first page, unless it asks for what visits do not have', async () => {
    keep('a person in red has appeared');
    fake.visits.kept.push(
      storedVisit({ name: 'red' }),
      storedVisit({ name: 'yard', camera: 'yard' }),
      storedVisit({ name: 'blue', caption: 'a person in blue came in from the left and left to the left' }),
      storedVisit({ name: 'passage', kind: 'passage' }),
    );
    const visitsOf = async (query: string) => (await get(`q=person+in+red${query}`)).body.visits;
    expect((await visitsOf('')).items.map(({ camera }: { camera: string }) => camera).sort()).toEqual(['gate', 'yard']);
    const listed = await fake.app.inject('/v1/visits?q=person+in+red&camera=gate&limit=5');
    expect(await visitsOf('&camera=gate&limit=5')).toEqual(listed.json());
    expect((await visitsOf('&since=2026-01-06T00:00:00Z')).items).toEqual([]);
    const cursor = encodeCursor({ at: 0, id: 'any' });
    for (const more of ['zone=lawn', 'kind=move', 'severity=high', 'status=reverted', `cursor=${cursor}`]) {
      expect(await visitsOf(`&${more}`)).toBeUndefined();
    }
  });

  it('shows a key visits of its own cameras alone', async () => {
    guarded.visits.kept.push(storedVisit({ name: 'a' }), storedVisit({ name: 'b', camera: 'yard' }));
    const { secret } = await guarded.apiKeys.create({ name: 'any', scopes: ['compare'], cameras: ['yard'] });
    const { body } = await get('q=person', { authorization: `Bearer ${secret}` }, guarded);
    expect(body.visits.items.map(({ camera }: { camera: string }) => camera)).toEqual(['yard']);
  });

  it('also finds what pictures show, by the vector of the query', async () => {
    const horse = keep('a horse has appeared');
    const van = keep('a van has appeared');
    const [near, far] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    fake.changes.keptVectors.set(horse.id, { bundle: 'new', values: near });
    fake.changes.keptVectors.set(van.id, { bundle: 'new', values: far });
    fake.changes.queryVectors.set('a person', { bundle: 'new', values: near, least: 0.6 });
    const answer = await get('q=a+person');
    expect(ids(answer)).toEqual([horse.id]);
    expect(answer.body.items[0].match).toEqual({ score: 0.01639, words: [], cosine: 1 });
    expect(answer.body.search).toMatchObject({ compared_vectors: 2, words_alone: null });
    fake.changes.queryVectors.set('a person', { missing: 'no_graph' });
    expect((await get('q=a+person')).body).toMatchObject({
      items: [],
      search: { compared_vectors: 0, words_alone: 'no_graph' },
    });
  });

  it('takes a vector of an older model as none, and nonsense as nothing', async () => {
    const horse = keep('a horse has appeared');
    fake.changes.keptVectors.set(horse.id, { bundle: 'old', values: Float32Array.of(1, 0) });
    const vector = { bundle: 'new', values: Float32Array.of(1, 0), least: 0.6 };
    for (const text of ['a person', 'xqzvbn', '\u{1F697}']) fake.changes.queryVectors.set(text, vector);
    for (const text of ['a+person', 'xqzvbn', '%F0%9F%9A%97']) {
      expect((await get(`q=${text}`)).body).toMatchObject({ items: [], search: { compared_vectors: 0 } });
    }
  });

  it('filters first', async () => {
    const found = keep('a dog has appeared', { camera: 'yard', zone: 'lawn', severity: 'high', confirmed: NOON + 1 });
    keep('a dog has appeared', { name: 'other' });
    for (const filter of ['camera=yard', 'zone=lawn', 'severity=high', 'since=2026-01-05T12:00:00.001Z']) {
      const answer = await get(`q=dog&${filter}`);
      expect([ids(answer), answer.body.search.changes]).toEqual([[found.id], 1]);
    }
    expect(ids(await get('q=dog&kind=move'))).toEqual([]);
    expect(ids(await get('q=dog&status=acknowledged'))).toEqual([]);
  });

  it('is paged to its end without a repetition, also if the last hit of a page is erased', async () => {
    const all = Array.from({ length: 7 }, (_, i) => keep('a cat has appeared', { name: `${i}`, confirmed: NOON - i }));
    const expected = all.map(({ id }) => id);
    const first = await get('q=cat&limit=3');
    expect(ids(first)).toEqual(expected.slice(0, 3));
    expect(first.link).toContain('q=cat');
    const second = await get(`q=cat&limit=3&cursor=${first.body.next_cursor}`);
    expect(ids(second)).toEqual(expected.slice(3, 6));
    const third = await get(`q=cat&limit=3&cursor=${second.body.next_cursor}`);
    expect([ids(third), third.body.next_cursor]).toEqual([expected.slice(6), null]);
    fake.changes.kept.splice(2, 1);
    expect(ids(await get(`q=cat&limit=3&cursor=${first.body.next_cursor}`))).toEqual(expected.slice(4));
  });

  it.each([
    ['nothing', 'q=', 400, 'q'],
    ['spaces', 'q=%20%20', 400, 'q'],
    ['10,000 characters', `q=${'x'.repeat(10_000)}`, 400, 'q'],
    ['a foreign cursor', 'q=car&cursor=abc', 400, 'cursor'],
    ['no id of a change', 'like=car', 400, 'like'],
    ['both', 'q=car&like=chg_00000000000000000000000001', 422, 'like'],
  ])('refuses %s, naming the field', async (_what, query, status, field) => {
    const { statusCode, body } = await get(query);
    expect([statusCode, body.field]).toEqual([status, field]);
  });

  it.each(['🚗', 'красная машина', '@caption:{car} => [KNN 5]', '%00%27%3B--', '*', 'a%2Bb'])(
    'answers %s without an error',
    async (q) => {
      keep('a van has appeared');
      const { statusCode, body } = await get(`q=${encodeURIComponent(q)}`);
      expect([statusCode, body.items]).toEqual([200, []]);
    },
  );
});

describe('GET /v1/changes?like=', () => {
  it('finds changes with the same words, not the change itself, and the opposite last', async () => {
    const car = keep('a red car has appeared');
    const gone = keep('a red car has left', { kind: 'disappear' });
    const other = keep('a blue car has appeared');
    keep('a dog has appeared');
    const answer = await get(`like=${car.id}`);
    expect(ids(answer)).toEqual([other.id, gone.id]);
    expect(answer.body.search).toMatchObject({ interpreted_as: [], unknown_words: [], words_alone: 'no_vector' });
  });

  it('also finds changes of near vectors, whatever their words, but not those of another model', async () => {
    const car = keep('a red car has appeared');
    const [near, far, older] = ['a horse is here', 'a dog is here', 'a cat is here'].map((caption) =>
      keep(caption, { kind: 'move' }),
    );
    const vectors: [string | undefined, string, number][] = [
      [car.id, 'new', 0],
      [near?.id, 'new', 20],
      [far?.id, 'new', 70],
      [older?.id, 'old', 0],
    ];
    for (const [id, bundle, degrees] of vectors) {
      const angle = (degrees * Math.PI) / 180;
      fake.changes.keptVectors.set(id ?? '', { bundle, values: Float32Array.of(Math.cos(angle), Math.sin(angle)) });
    }
    const answer = await get(`like=${car.id}`);
    expect(ids(answer)).toEqual([near?.id]);
    expect(answer.body.items[0].match).toEqual({ score: 0.01639, words: [], cosine: 0.94 });
    expect(answer.body.search).toMatchObject({ changes: 3, compared_vectors: 2, words_alone: null });
  });

  it('of an erased change is a 404', async () => {
    const { statusCode, body } = await get('like=chg_00000000000000000000000001');
    expect([statusCode, body.detail]).toEqual([404, expect.stringContaining('chg_00000000000000000000000001')]);
  });
});

describe('A key of some cameras', () => {
  const keyOf = async (cameras: string[]) => {
    const { secret } = await guarded.apiKeys.create({ name: 'any', scopes: ['compare'], cameras });
    return { authorization: `Bearer ${secret}` };
  };

  it('finds no change of another camera and learns no word of it', async () => {
    const visible = keep('a car has appeared', { camera: 'gate-1' }, guarded);
    keep('a car has left the vaultroom', { camera: 'vault', kind: 'disappear' }, guarded);
    const key = await keyOf(['gate-*']);
    const found = await get('q=car+vaultroom+vaultrom', key, guarded);
    expect(ids(found)).toEqual([visible.id]);
    expect(found.body.search).toEqual({
      interpreted_as: [],
      unknown_words: ['vaultroom', 'vaultrom'],
      all_words: false,
      complete: true,
      changes: 1,
      compared_vectors: 0,
      words_alone: 'no_worker',
    });
    expect(ids(await get('q=car&camera=vault', key, guarded))).toEqual([]);
    expect(ids(await get('q=car', await keyOf([]), guarded))).toEqual([]);
  });

  it('gets the same answer for `like` of a foreign change as for one that does not exist', async () => {
    const foreign = keep('a car has appeared', { camera: 'vault' }, guarded);
    keep('a car has appeared', { name: 'own', camera: 'gate-1' }, guarded);
    const key = await keyOf(['gate-*']);
    const missing = 'chg_00000000000000000000000001';
    const [refused, unknown] = [
      await get(`like=${foreign.id}`, key, guarded),
      await get(`like=${missing}`, key, guarded),
    ];
    expect(refused.statusCode).toBe(404);
    expect(refused.body.detail.replace(foreign.id, 'ID')).toBe(unknown.body.detail.replace(missing, 'ID'));
  });
});
