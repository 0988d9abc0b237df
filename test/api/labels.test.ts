/** Lists by the label of a camera: changes, their counts, visits, and the brief. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { storedChange } from '../helpers/changes.js';
import { fakeApp } from '../helpers/fake-app.js';
import { storedVisit } from '../helpers/visits.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0 });
});
const CAMERAS = { 'gate-1': ['north', 'dock'], 'gate-2': ['north'], yard: ['south'], attic: [] };
beforeEach(async () => {
  fake.reset();
  fake.apiKeys.keys.clear();
  fake.changes.kept.length = 0;
  for (const [id, labels] of Object.entries(CAMERAS)) {
    const { secret } = await fake.apiKeys.create({ name: 'admin', scopes: ['admin'], cameras: ['*'] });
    const headers = { authorization: `Bearer ${secret}` };
    await fake.inject({ method: 'PUT', url: `/v1/cameras/${id}`, payload: { labels }, headers });
    fake.changes.kept.push(storedChange({ name: id, camera: id, confirmed: Date.UTC(2026, 5, 1, 12) }));
    fake.visits.kept.push({ ...storedVisit({ begun: Date.UTC(2026, 5, 1, 12) }), camera: id });
  }
});
afterAll(() => fake.app.close());

const get = async (url: string, cameras = ['*']) => {
  const { secret } = await fake.apiKeys.create({ name: 'any', scopes: ['compare'], cameras });
  return (await fake.inject({ url, headers: { authorization: `Bearer ${secret}` } })).json();
};
const camerasOf = async (url: string, cameras?: string[]): Promise<string[]> => {
  const { items, cameras: ofBrief } = await get(url, cameras);
  return (items ?? ofBrief).map(({ camera }: { camera: string }) => camera).sort();
};

describe('the query parameter label', () => {
  it.each(['/v1/changes?', '/v1/visits?', '/v1/brief?day=2026-06-01&'])(
    'of %s leaves the cameras that have it',
    async (path) => {
      expect(await camerasOf(path)).toEqual(['attic', 'gate-1', 'gate-2', 'yard']);
      expect(await camerasOf(`${path}label=north`)).toEqual(['gate-1', 'gate-2']);
      expect(await camerasOf(`${path}label=dock`)).toEqual(['gate-1']);
      expect(await camerasOf(`${path}label=north`, ['gate-2', 'yard'])).toEqual(['gate-2']);
      expect(await camerasOf(`${path}label=none`)).toEqual([]);
    },
  );

  it('of a brief of one camera leaves it if it has the label', async () => {
    const ofCamera = (camera: string, cameras?: string[]) =>
      get(`/v1/brief?day=2026-06-01&label=north&camera=${camera}`, cameras);
    expect((await ofCamera('gate-2')).cameras).toMatchObject([{ camera: 'gate-2' }]);
    expect((await ofCamera('yard')).cameras).toEqual([]);
    expect(await ofCamera('gate-2', ['yard'])).toMatchObject({ status: 404 });
  });

  it('of the counts per day leaves the cameras that have it', async () => {
    const counts = async (label: string) =>
      (await get(`/v1/changes/counts?from=2026-06-01&to=2026-06-01${label}`)).items;
    expect(await counts('')).toEqual([{ day: '2026-06-01', changes: 4 }]);
    expect(await counts('&label=north')).toEqual([{ day: '2026-06-01', changes: 2 }]);
    expect(await counts('&label=none')).toEqual([]);
  });
});
