import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { initialCameraState } from '../../src/camera/state/state.js';
import { initialVisitsState } from '../../src/camera/visits/state.js';
import { openVisits } from '../../src/camera/visits/visit.js';
import { at, foldAll, frame, START, thing } from '../camera/visits/made-frames.js';
import { fakeApp } from '../helpers/fake-app.js';
import { storedVisit } from '../helpers/visits.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0 });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

const keep = (given: Parameters<typeof storedVisit>[0] = {}) => {
  const visit = storedVisit(given);
  fake.visits.kept.push(visit);
  return visit;
};
const key = async () => {
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'], cameras: ['*'] });
  return { authorization: `Bearer ${secret}` };
};
const get = async (url: string, cameras = ['*']) => {
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'], cameras });
  const { statusCode, body } = await fake.inject({ url, headers: { authorization: `Bearer ${secret}` } });
  return { statusCode, body: JSON.parse(body) };
};
const captions = async (query: string) =>
  (await get(`/v1/visits?${query}`)).body.items.map(({ caption }: { caption: string }) => caption);

describe('GET /v1/visits', () => {
  it('finds visits by words of one meaning, without the verbs of coming and going', async () => {
    const [person, car] = [
      'a person in red came in from the left, stood on the left for 30 s and left to the left',
      'a white car came in from the right and left to the left',
    ];
    keep({ name: 'a', caption: person });
    keep({ name: 'b', caption: car });
    expect(await captions('q=red%20person')).toEqual([person]);
    expect(await captions('q=a%20vehicle%20came%20and%20left')).toEqual([]);
    expect(await captions('q=the%20cars')).toEqual([car]);
    expect(await captions('q=a%20car%20came%20and%20left')).toEqual([car]);
    expect(await captions('q=white%20person')).toEqual([]);
  });

  it('has its sentences in the first accepted language with a table, and names it', async () => {
    keep();
    const english = (await fake.inject({ url: '/v1/visits', headers: await key() })).json().items[0].caption;
    for (const [accepted, language, sentence] of [
      ['nl, fr-CA;q=0.8', 'fr', /^Une? .* est /],
      ['nl', 'en', new RegExp(`^${english}$`)],
    ] as const) {
      const headers = { ...(await key()), 'accept-language': accepted };
      const answer = await fake.inject({ url: '/v1/visits', headers });
      expect(answer.headers).toMatchObject({
        'content-language': language,
        vary: expect.stringContaining('Accept-Language'),
      });
      expect(answer.json().items[0].caption).toMatch(sentence);
    }
  });

  it('finds visits by words of other languages', async () => {
    keep({ name: 'a', caption: 'a person in red came in from the left and left to the left' });
    expect(await captions(`q=${encodeURIComponent('une personne en rouge')}`)).toHaveLength(1);
    expect(await captions(`q=${encodeURIComponent('白い車')}`)).toEqual([]);
  });

  it('lists visits of a camera and a time, and passages on request, each with a link to its picture', async () => {
    const visit = keep();
    keep({ name: 'other', camera: 'yard' });
    keep({ name: 'later', begun: Date.parse('2026-01-06T12:00:00Z') });
    keep({ name: 'passage', kind: 'passage' });
    const { body } = await get('/v1/visits?camera=gate&since=2026-01-05T00:00:00Z&until=2026-01-06T00:00:00Z');
    const { comparison } = visit.best;
    const judgement = { acknowledged_at: null, feedback: null };
    const url = expect.stringMatching(new RegExp(`/v1/comparisons/${comparison}/frames/after\\?exp=.*sig=`));
    expect(body).toEqual({ items: [{ ...visit, ...judgement, picture: { url } }], next_cursor: null });
    expect((await get('/v1/visits?kind=passage')).body.items).toHaveLength(1);
    expect((await get('/v1/visits?kind=stay')).statusCode).toBe(400);
  });

  it('shows a visit that lasts as it is after the last frame', async () => {
    const walk = (seconds: number) =>
      Array.from({ length: seconds }, (_, i) => frame(i, [thing(at(0.1 + i * 0.02))], { camera: 'gate' }));
    const begun = openVisits(foldAll(walk(4)).state, 'gate')[0];
    const now = foldAll(walk(20)).state;
    if (begun === undefined) throw new Error('a visit is open');
    fake.visits.kept.push(begun);
    fake.cameras.states.set('gate', { ...initialCameraState(), visits: now });
    expect((await get(`/v1/visits/${begun.id}`)).body).toMatchObject({ status: 'open', frames: 20 });
    expect((await get('/v1/visits')).body.items).toMatchObject([{ id: begun.id, frames: 20 }]);
    // A camera from which no frame comes has no open visit.
    const last = { at: START, sha256: '', comparison: '' };
    fake.cameras.states.set('gate', { ...initialCameraState(), visits: now, last });
    expect((await get(`/v1/visits/${begun.id}`)).body).toMatchObject({ status: 'ended', end: 'unseen', gone: null });
    // A state without it leaves the record as it was stored.
    fake.cameras.states.set('gate', { ...initialCameraState(), visits: initialVisitsState() });
    expect((await get(`/v1/visits/${begun.id}`)).body).toMatchObject({ frames: begun.frames });
  });

  it('shows a key the visits of its cameras alone', async () => {
    const { id } = keep({ camera: 'gate' });
    expect((await get('/v1/visits', ['yard'])).body.items).toEqual([]);
    expect((await get(`/v1/visits/${id}`, ['yard'])).statusCode).toBe(404);
    expect((await get(`/v1/visits/${id}`, ['ga*'])).statusCode).toBe(200);
    expect((await get(`/v1/visits/vis_${'0'.repeat(26)}`)).statusCode).toBe(404);
  });
});

it('A visit is acknowledged and judged as a change is, by keys that may judge', async () => {
  const { id } = keep();
  const { secret } = await fake.apiKeys.create({ name: 'guard', scopes: ['judge'], cameras: ['*'] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const send = async (method: 'POST' | 'DELETE', path: string, payload: object, of = id) => {
    const { statusCode, body } = await fake.inject({ method, url: `/v1/visits/${of}/${path}`, headers, payload });
    return { statusCode, ...JSON.parse(body) };
  };
  const acknowledged = await send('POST', 'acknowledge', {});
  expect(acknowledged).toMatchObject({ statusCode: 200, acknowledged_at: expect.any(String), feedback: null });
  expect(await send('DELETE', 'acknowledge', {})).toMatchObject({ acknowledged_at: null });
  const given = { judgement: 'false_alarm', caption: 'a dog came' };
  expect(await send('POST', 'feedback', given)).toMatchObject({ feedback: { ...given, by: expect.any(String) } });
  expect((await get('/v1/visits')).body.items[0].feedback.judgement).toBe('false_alarm');
  expect(await send('DELETE', 'feedback', {})).toMatchObject({ feedback: null });
  expect(await send('POST', 'feedback', { judgement: 'maybe' })).toMatchObject({ statusCode: 400 });
  const unknown = id.replace(/.{4}$/, '0000');
  expect(await send('POST', 'acknowledge', {}, unknown)).toMatchObject({ statusCode: 404 });
});
