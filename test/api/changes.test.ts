import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parsePairs } from '../../lab/figures/pairs.js';
import { foundChange, storedChange } from '../helpers/changes.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;

beforeAll(async () => {
  fake = await fakeApp();
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const get = async (url: string) => {
  const { statusCode, body, headers } = await fake.inject({ url });
  return { statusCode, headers, body: JSON.parse(body) };
};
const post = async (url: string, payload?: object | string) => {
  const content = payload === undefined ? {} : { payload, headers: { 'content-type': 'application/json' } };
  const { statusCode, body } = await fake.inject({ method: 'POST', url, ...content });
  return { statusCode, body: JSON.parse(body) };
};
const keep = (given: Parameters<typeof storedChange>[0] = {}) => {
  const change = storedChange(given);
  fake.changes.kept.push(change);
  return change;
};

describe('GET /v1/changes', () => {
  it('passes the filters of the query to the store, times in ms', async () => {
    const change = keep();
    const answer = await get(
      '/v1/changes?camera=gate&status=reverted&since=2026-01-05T12:00:00Z&until=2026-01-05T13:00:00Z&limit=7',
    );
    expect(answer).toMatchObject({ statusCode: 200, body: { items: [change], next_cursor: null } });
    const [since, until] = ['2026-01-05T12:00:00Z', '2026-01-05T13:00:00Z'].map((iso) => Date.parse(iso));
    expect(fake.changes.queries).toMatchObject([{ camera: 'gate', status: 'reverted', since, until, limit: 7 }]);
    expect(answer.headers.link).toBeUndefined();
  });

  it('shows figures with three decimals, in the list and alone', async () => {
    const { id } = keep({ confidence: 0.8607079753028224 });
    expect((await get('/v1/changes')).body.items[0].confidence).toBe(0.861);
    expect((await get(`/v1/changes/${id}`)).body.confidence).toBe(0.861);
    expect((await post(`/v1/changes/${id}/acknowledge`)).body.confidence).toBe(0.861);
  });

  it('links to the next page with the same filters', async () => {
    keep();
    fake.changes.nextCursor = 'abc';
    const { body, headers } = await get('/v1/changes?camera=gate');
    expect(body.next_cursor).toBe('abc');
    expect(headers.link).toBe('</v1/changes?camera=gate&cursor=abc>; rel="next"');
  });

  it.each([
    ['status', 'status=pending', 'status'],
    ['limit', 'limit=0', 'limit'],
    ['time', 'since=yesterday', 'since'],
    ['parameter', 'colour=red', 'colour'],
    ['kind', 'kind=vanish', 'kind'],
    ['severity', 'severity=huge', 'severity'],
  ])('refuses an unknown %s, naming it', async (_what, query, field) => {
    expect(await get(`/v1/changes?${query}`)).toMatchObject({ statusCode: 400, body: { field } });
  });

  it('refuses a leap second, which fits the schema, with 422', async () => {
    const answer = await get('/v1/changes?until=2016-12-31T23:59:60Z');
    expect(answer).toMatchObject({ statusCode: 422, body: { field: 'until' } });
  });
});

describe('one change', () => {
  it('is read, acknowledged and judged', async () => {
    const change = keep();
    expect(await get(`/v1/changes/${change.id}`)).toMatchObject({ statusCode: 200, body: change });
    expect(await post(`/v1/changes/${change.id}/acknowledge`)).toMatchObject({
      statusCode: 200,
      body: { status: 'acknowledged' },
    });
    const given = { judgement: 'correct', caption: 'a van has appeared' };
    expect(await post(`/v1/changes/${change.id}/feedback`, given)).toMatchObject({
      statusCode: 200,
      body: { feedback: given },
    });
    const withdraw = async (what: string) =>
      (await fake.inject({ method: 'DELETE', url: `/v1/changes/${change.id}/${what}` })).json();
    expect(await withdraw('feedback')).toMatchObject({ feedback: null, status: 'acknowledged' });
    expect(await withdraw('acknowledge')).toMatchObject({ acknowledged_at: null });
  });

  it('becomes normal unless it is over or has settled', async () => {
    const change = keep();
    expect(await post(`/v1/changes/${change.id}/normal`)).toMatchObject({ statusCode: 202, body: { id: change.id } });
    expect(fake.changes.normal).toEqual([change.id]);
    const at = change.last_seen;
    for (const [i, given] of [{ reverted_at: at }, { settled_at: at }].entries()) {
      const { id } = keep({ name: `over ${i}`, ...given });
      expect(await post(`/v1/changes/${id}/normal`)).toMatchObject({ statusCode: 422 });
    }
  });

  it('has the deliveries of its alerts', async () => {
    const { id } = keep();
    const delivery = {
      id: 'dlv_00000000000000000000000001',
      comparison: 'cmp_00000000000000000000000001',
      subject: { kind: 'change' as const, id },
      url: 'https://user.example/alerts',
      state: 'pending' as const,
      next_attempt_at: null,
      attempts: [],
    };
    fake.deliveries.kept.push(delivery, {
      ...delivery,
      subject: { kind: 'change', id: 'chg_00000000000000000000000002' },
    });
    expect((await get(`/v1/changes/${id}/deliveries`)).body).toEqual({ items: [delivery] });
  });

  it('that does not exist is a 404 on every route of it', async () => {
    const path = `/v1/changes/${foundChange().id}`;
    const answers = [
      await get(path),
      await get(`${path}/deliveries`),
      await post(`${path}/acknowledge`),
      await post(`${path}/feedback`, { judgement: 'correct' }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404]);
    for (const what of ['feedback', 'acknowledge']) {
      expect((await fake.inject({ method: 'DELETE', url: `${path}/${what}` })).statusCode).toBe(404);
    }
  });

  it.each([
    [{ judgement: 'perhaps' }, 'judgement'],
    [{ caption: 'a van' }, 'judgement'],
    [{ judgement: 'correct', caption: '' }, 'caption'],
    [{ judgement: 'correct', at: 'now' }, 'at'],
    [[], ''],
  ])('refuses feedback %j, naming the field', async (payload, field) => {
    const { id } = keep();
    const { statusCode, body } = await post(`/v1/changes/${id}/feedback`, payload);
    expect([statusCode, body.field ?? '']).toEqual([400, field]);
    expect(fake.changes.kept[0]?.feedback).toBeNull();
  });

  it('refuses feedback that is not JSON', async () => {
    const { id } = keep();
    expect((await post(`/v1/changes/${id}/feedback`, '{')).statusCode).toBe(400);
  });
});

describe('POST /v1/feedback', () => {
  it('judges several changes at once, and none if one does not exist', async () => {
    const ids = ['one', 'two', 'three'].map((name) => keep({ name }).id);
    const unknown = foundChange({ name: 'unknown' }).id;
    const judgements = () => fake.changes.kept.map(({ feedback }) => feedback?.judgement ?? null);
    const refused = await post('/v1/feedback', { changes: [ids[0], unknown], judgement: 'correct' });
    expect([refused.statusCode, judgements()]).toEqual([404, [null, null, null]]);
    const answer = await post('/v1/feedback', { changes: [ids[2], ids[0]], judgement: 'false_alarm' });
    expect(answer.statusCode).toBe(200);
    expect(answer.body.items.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[0]]);
    expect(judgements()).toEqual(['false_alarm', null, 'false_alarm']);
  });

  it.each([
    [{ changes: [], judgement: 'correct' }, 'changes'],
    [{ changes: ['gate'], judgement: 'correct' }, 'changes/0'],
    [{ changes: [foundChange().id, foundChange().id], judgement: 'correct' }, 'changes'],
    [{ changes: [foundChange().id], judgement: 'correct', caption: 'a van' }, 'caption'],
  ])('refuses %j, naming the field', async (payload, field) => {
    const { statusCode, body } = await post('/v1/feedback', payload);
    expect([statusCode, body.field]).toEqual([400, field]);
  });
});

describe('GET /v1/feedback', () => {
  const at = '2026-01-05T13:00:00.000Z';
  const judged = async (name: string, given: Parameters<typeof storedChange>[0]) => {
    const accepted = acceptedComparison();
    await fake.results.create(accepted);
    const best = accepted.comparison.id;
    return keep({ name, comparisons: { first: best, best, last: best }, ...given });
  };
  const manifest = async () => (await fake.inject({ url: '/v1/feedback?format=ndjson' })).body;

  it('is a manifest that scenedelta evaluate reads, with the right caption as reference', async () => {
    await judged('right', { feedback: { judgement: 'correct', at } });
    await judged('wrong', { feedback: { judgement: 'false_alarm', at } });
    await judged('better', { feedback: { judgement: 'correct', caption: 'a van has appeared', at } });
    await judged('blocked', { kind: 'tamper', feedback: { judgement: 'correct', at } });
    await judged('zoned', {
      caption: 'a car has appeared in loading bay 2',
      model_caption: 'a car has appeared',
      feedback: { judgement: 'correct', at },
    });
    await judged('silent', {});
    const pairs = parsePairs(await manifest(), 'feedback.ndjson');
    expect(pairs.map(({ verdict, changed, references, scene }) => [verdict, changed, references[0], scene])).toEqual([
      ['change', true, 'a car has appeared', 'gate'],
      ['none', false, 'there is no change', 'gate'],
      ['change', true, 'a van has appeared', 'gate'],
      ['tamper', true, 'a car has appeared', 'gate'],
      ['change', true, 'a car has appeared', 'gate'],
    ]);
  });

  it('names the frames by comparison and type, with the paths that serve them', async () => {
    const { comparisons } = await judged('right', { feedback: { judgement: 'correct', at } });
    expect(JSON.parse(await manifest())).toMatchObject({
      before: `frames/${comparisons.best}-before.png`,
      after: `frames/${comparisons.best}-after.png`,
      frames: { before: `/v1/comparisons/${comparisons.best}/frames/before` },
    });
  });

  it('states the same truth about a pair beside each of its changes', async () => {
    const { comparisons } = await judged('right', { feedback: { judgement: 'correct', at, by: 'key_a' } });
    const box = { x: 0.6, y: 0.2, width: 0.1, height: 0.1 };
    const regions = [{ side: 'after' as const, box, area: 0.01, score: 0.9, zone: null }];
    keep({ name: 'wrong', comparisons, regions, feedback: { judgement: 'false_alarm', at } });
    const lines = (await manifest())
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as Record<string, unknown>);
    expect(lines).toHaveLength(2);
    for (const one of lines) {
      expect(one).toMatchObject({ verdict: 'change', kind: 'appear', references: ['a car has appeared'] });
    }
    expect(lines[1]?.regions).toEqual([{ side: 'after', box }]);
    expect(lines.map(({ judgement, by }) => [judgement, by])).toEqual([
      ['correct', 'key_a'],
      ['false_alarm', undefined],
    ]);
  });

  it('leaves out changes without frames, and is empty without feedback', async () => {
    expect(await manifest()).toBe('');
    keep({ feedback: { judgement: 'correct', at } });
    expect(await manifest()).toBe('');
  });

  it('continues after the first hundred lines', async () => {
    for (let i = 0; i < 101; i++) await judged(String(i), { feedback: { judgement: 'correct', at } });
    expect((await manifest()).trim().split('\n')).toHaveLength(101);
  });
});

describe('GET /v1/changes/counts', () => {
  const counts = (query: string) => get(`/v1/changes/counts?${query}`);
  const at = (iso: string, camera = 'gate') => keep({ name: iso, camera, confirmed: Date.parse(iso) });

  it('counts by the days of a time zone, also when the clock changes', async () => {
    // The night to the 29th of March has 23 hours in Berlin, and the day begins at 23:00 of the day before in UTC.
    for (const iso of [
      '2026-03-28T22:59:00Z',
      '2026-03-28T23:01:00Z',
      '2026-03-29T21:59:00Z',
      '2026-03-29T22:01:00Z',
    ]) {
      at(iso);
    }
    at('2026-03-29T12:00:00Z', 'yard');
    const berlin = 'from=2026-03-01&to=2026-03-31&time_zone=Europe/Berlin';
    expect((await counts(berlin)).body.items).toEqual([
      { day: '2026-03-28', changes: 1 },
      { day: '2026-03-29', changes: 3 },
      { day: '2026-03-30', changes: 1 },
    ]);
    expect((await counts(`${berlin}&camera=gate`)).body.items[1]).toEqual({ day: '2026-03-29', changes: 2 });
    expect((await counts('from=2026-03-28&to=2026-03-28')).body.items).toEqual([{ day: '2026-03-28', changes: 2 }]);
  });

  it.each([
    ['from=2026-06-31&to=2026-07-02', 'from'],
    ['from=2026-06-02&to=2026-06-01', 'to'],
    ['from=2026-01-01&to=2027-02-01', 'to'],
    ['from=2026-06-01&to=2026-06-02&time_zone=Nowhere', 'time_zone'],
  ])('refuses %s, naming %s', async (query, field) => {
    expect(await counts(query)).toMatchObject({ statusCode: 422, body: { field } });
  });
});
