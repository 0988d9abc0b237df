/** The service with a bundle that has search vectors: from frames of a camera to a search that words alone fail. */
import { rm } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { eventually } from '../helpers/eventually.js';
import { changedPair } from '../helpers/scenes.js';
import { answerOf, type Service, startService } from '../helpers/service.js';
import { tinyWithSearch } from '../model/tiny-search.js';

jest.setTimeout(240_000);
let service: Service;
let models: string;
beforeAll(async () => {
  models = (await tinyWithSearch()).modelsDir;
  service = await startService({ env: { MODELS_DIR: models } });
});
afterAll(async () => {
  await service?.stop();
  await rm(models, { recursive: true });
});

const json = { 'content-type': 'application/json' };
async function request(path: string, init: RequestInit = {}) {
  const headers = { ...service.headers, ...init.headers };
  return answerOf(await fetch(`${service.url}${path}`, { ...init, headers }));
}
const search = async (query: string) => (await request(`/v1/changes?${query}`)).body as SearchAnswer;
interface SearchAnswer {
  items: { id: string; match: { words: unknown[]; cosine?: number } }[];
  search: Record<string, unknown>;
}

it('finds a change by what its frames show, and says what it compared', async () => {
  const settings = { before: 'reference', examine_every_s: 0, alerts: { confirm_frames: 1 } };
  await request('/v1/cameras/gate', { method: 'PUT', headers: json, body: JSON.stringify(settings) });
  const { before, after } = await changedPair();
  for (const [i, frame] of [before, after].entries()) {
    const form = new FormData();
    form.append('frame', new Blob([new Uint8Array(frame)]), 'frame.jpg');
    form.append('captured_at', new Date(Date.UTC(2026, 5, 1) + 1000 * i).toISOString());
    const headers = { prefer: 'wait=60' };
    expect((await request('/v1/cameras/gate/frames', { method: 'POST', body: form, headers })).status).toBe(200);
  }
  // The first question opens the graph, and may come too late.
  await eventually(async () => {
    const { items, search: summary } = await search('q=something+has+appeared');
    expect(summary).toMatchObject({ changes: 1, compared_vectors: 1, words_alone: null });
    expect(items[0]?.match.cosine).toBeGreaterThan(0.5);
  }, 60_000);
  const [change] = (await search('q=appeared')).items;
  expect(await search(`like=${change?.id}`)).toMatchObject({ items: [], search: { changes: 0, words_alone: null } });
  const nonsense = await search('q=xqzvbn%20%F0%9F%9A%97%20%27%3B%20DROP');
  expect(nonsense).toMatchObject({ items: [], search: { compared_vectors: 0 } });
  expect((await request(`/v1/changes?q=${'x'.repeat(10_000)}`)).status).toBe(400);
});
