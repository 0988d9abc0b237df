/** The list of cameras with its search, its orders and the overview of each, and small pictures of frames. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { frameKey } from '../../src/base/blobs.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import { cameraApi, isBlackRight, PRIVACY } from '../helpers/camera-api.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { contentOf } from '../helpers/content.js';
import { fakeApp } from '../helpers/fake-app.js';
import { jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp();
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put } = cameraApi(() => service);
const SHA = 'a'.repeat(64);
const FRAME = { from: 'stored', sha256: SHA, bytes: 1, contentType: 'image/jpeg' } as const;

/** @param finding of the last comparison. @param age of the last frame, ms */
async function withFrame(id: string, finding: object = {}, age = 0): Promise<string> {
  const stored = acceptedComparison({ before: FRAME, after: FRAME, camera: id });
  const { id: comparison } = stored.comparison;
  await service.results.create(stored);
  await service.results.update(comparison, { comparison: finished(stored.comparison, finding) });
  const last = { at: Date.now() - age, sha256: SHA, comparison };
  service.cameras.states.set(id, { ...initialCameraState(), last });
  return comparison;
}
const list = async (query: string) => {
  const { items, next_cursor } = (await get(`/v1/cameras?${query}`)).json();
  return { ids: items.map(({ id }: { id: string }) => id), items, next: next_cursor };
};

describe('the list of cameras', () => {
  beforeEach(async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await put(id, { name: `Gate ${id.toUpperCase()}` });
    await withFrame('a', { caption: 'a car has left', content: contentOf('a car has left') });
    await withFrame('c', {}, 600_000);
    await withFrame('d', { verdict: 'tamper', tamper: [{ name: 'darkened', score: 0.9 }] });
    await service.cameras.saveSnapshot('e', { at: '2026-06-01T12:00:00.000Z', error: 'url-failed: answered 401' });
  });

  it('by state has problems first, then cameras without a frame, page by page', async () => {
    const first = await list('sort=state&limit=2');
    expect(first).toMatchObject({ ids: ['c', 'd'], next: '0.d' });
    expect(first.items.map((one: { overview: object }) => one.overview)).toMatchObject([
      { state: 'no_frames', detail: 'No frame for longer than usual.' },
      { state: 'dark' },
    ]);
    const second = await list(`sort=state&limit=2&cursor=${first.next}`);
    expect(second).toMatchObject({ ids: ['e', 'b'], next: '1.b' });
    expect(second.items[0].overview).toMatchObject({ state: 'no_frame_yet', detail: 'answered 401' });
    const third = await list(`sort=state&limit=2&cursor=${second.next}`);
    expect(third).toMatchObject({ ids: ['a'], next: null });
    expect(third.items[0].overview).toMatchObject({ state: 'live', detail: 'a car has left' });
    expect((await get('/v1/cameras?sort=state&cursor=b')).json()).toMatchObject({ status: 422, field: 'cursor' });
  });

  it('says that the last frames failed, and why, before a frame was ever compared and after it', async () => {
    const failure = { at: '2026-06-01T12:00:00.000Z', error: 'frame: the 12 bytes are not an image' };
    service.cameras.failures.set('a', failure);
    service.cameras.failures.set('b', failure);
    const { ids, items } = await list('sort=state');
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(items[0].overview).toMatchObject({ state: 'live', last_failure: failure });
    expect(items[1].overview).toMatchObject({ state: 'no_frame_yet', detail: failure.error, last_failure: failure });
    expect(items[2].overview).toMatchObject({ last_failure: null });
  });

  it('says in the language of the request what a card has room for: the fault comes first, without the address', async () => {
    const error = 'url-failed: http://cams.example/snap.jpg answered 404, expected 200';
    await service.cameras.saveSnapshot('e', { at: '2026-06-01T12:00:00.000Z', error });
    const detailsIn = async (language: string) => {
      const answer = await service.inject({
        url: '/v1/cameras?overview=true',
        headers: { 'accept-language': language },
      });
      const details = answer.json().items.map(({ overview }: { overview: { detail: string } }) => overview.detail);
      return [answer.headers['content-language'], ...details];
    };
    expect(await detailsIn('de')).toEqual([
      ...['de', 'Ein Auto hat sich entfernt.', 'Noch kein Bild.', 'Seit längerer Zeit als üblich kein Bild.'],
      ...[expect.any(String), 'The camera answered 404, expected 200'],
    ]);
    expect((await detailsIn('en'))[3]).toBe('No frame for longer than usual.');
  });

  it('is searched by id and name, in upper or lower case, in both orders', async () => {
    expect(await list('q=GATE%20d')).toMatchObject({ ids: ['d'], next: null });
    expect(await list('q=gate&limit=3')).toMatchObject({ ids: ['a', 'b', 'c'], next: 'c' });
    expect(await list('q=gate&limit=3&cursor=c')).toMatchObject({ ids: ['d', 'e'], next: null });
    expect((await list('q=gate&sort=state')).ids).toEqual(['c', 'd', 'e', 'b', 'a']);
    expect((await list('q=nothing')).ids).toEqual([]);
  });

  it('says what covers the lens, since when, and how much of the view', async () => {
    const last = { at: Date.now(), sha256: 'a', comparison: 'cmp_1' };
    const lens = { since: Date.parse('2026-06-01T12:00:00Z'), share: 0.304, reported: true };
    service.cameras.states.set('a', { ...initialCameraState(), frames: 9, last, lens });
    expect((await get('/v1/cameras/a')).json()).toMatchObject({
      overview: { state: 'covered', detail: 'Something on the lens covers 30 % of the view.' },
      status: { lens: { since: '2026-06-01T12:00:00.000Z', share: 0.304 } },
    });
    service.cameras.states.set('a', { ...initialCameraState(), last, lens: { ...lens, reported: false } });
    expect((await get('/v1/cameras/a')).json()).toMatchObject({ overview: { state: 'live' }, status: { lens: null } });
  });

  it('has overviews if asked, and each camera by itself has one', async () => {
    expect((await list('')).items[0].overview).toBeUndefined();
    const [a, b] = (await list('overview=true')).items;
    expect(a.overview).toEqual((await get('/v1/cameras/a')).json().overview);
    expect(a.overview.comparison).toMatch(/^cmp_/);
    expect(b.overview).toEqual({
      ...{ state: 'no_frame_yet', detail: 'No frame yet.' },
      ...{ last_frame_at: null, frozen_since: null, lens: null, comparison: null, last_failure: null },
    });
  });
});

it('a small picture has at most 480 px on each side and the privacy zones, also those that came later', async () => {
  await service.blobs.put(frameKey(SHA), await jpeg(90, 1600, 900));
  await put('gate', {});
  const url = `/v1/comparisons/${await withFrame('gate')}/frames/after?size=small`;
  const plain = await get(url);
  expect([plain.statusCode, plain.headers['content-type']]).toEqual([200, 'image/jpeg']);
  expect(await sharp(plain.rawPayload).metadata()).toMatchObject({ width: 480, height: 270 });
  expect(await isBlackRight(plain.rawPayload)).toBe(false);
  await put('gate', { zones: [PRIVACY] });
  const masked = await get(url);
  expect(await isBlackRight(masked.rawPayload)).toBe(true);
  expect(masked.headers.etag).not.toBe(plain.headers.etag);
  expect((await get(url.replace('small', 'huge'))).statusCode).toBe(400);
});

it('a picture of a thing is the part of the frame around it, and has the privacy zones', async () => {
  await service.blobs.put(frameKey(SHA), await jpeg(90, 1600, 900));
  await put('gate', { zones: [PRIVACY] });
  const url = `/v1/comparisons/${await withFrame('gate')}/frames/after`;
  const small = await get(`${url}?around=0.1,0.4,0.05,0.1`);
  expect(await sharp(small.rawPayload).metadata()).toMatchObject({ format: 'jpeg', width: 300, height: 225 });
  const corner = await get(`${url}?around=0.8,0.5,0.05,0.05`);
  const { channels } = await sharp(corner.rawPayload).stats();
  expect(Math.max(...channels.map(({ max }) => max))).toBeLessThan(40);
  expect(corner.headers.etag).not.toBe(small.headers.etag);
  const full = await get(`${url}?around=0,0,1,1`);
  expect(await sharp(full.rawPayload).metadata()).toMatchObject({ width: 480, height: 270 });
  for (const wrong of ['0.1,0.4,0.05', '2,0,1,1', '0.1,0.4,0.05,x']) {
    expect((await get(`${url}?around=${wrong}`)).statusCode).toBe(400);
  }
});
