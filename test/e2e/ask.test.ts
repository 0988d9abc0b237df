/** The service with a bundle that has a truth check: a question about a comparison, from the API to a worker. */
import { rm } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { changedPair } from '../helpers/scenes.js';
import { answerOf, type Service, startService } from '../helpers/service.js';
import { addCheck, copyOfTiny } from '../model/tiny-bundle.js';

jest.setTimeout(240_000);
let service: Service;
let models: string;
beforeAll(async () => {
  models = (await copyOfTiny(addCheck)).modelsDir;
  service = await startService({ env: { MODELS_DIR: models } });
});
afterAll(async () => {
  await service?.stop();
  await rm(models, { recursive: true });
});

async function request(path: string, body: FormData | string, headers: Record<string, string>) {
  const init = { method: 'POST', body, headers: { ...service.headers, ...headers } };
  return answerOf(await fetch(`${service.url}${path}`, init));
}

it('answers how probable a sentence is of a finished comparison', async () => {
  const form = new FormData();
  for (const [side, frame] of Object.entries(await changedPair())) {
    form.append(side, new Blob([new Uint8Array(frame)]), `${side}.jpg`);
  }
  const compared = await request('/v1/comparisons', form, { prefer: 'wait=60' });
  const { id } = compared.body as { id: string };
  const ask = (sentence: string) =>
    request(`/v1/comparisons/${id}/ask`, JSON.stringify({ sentence }), { 'content-type': 'application/json' });
  const came = await ask('a white thing has appeared');
  expect(came).toMatchObject({ status: 200, body: { unknown_words: [], p: expect.any(Number) } });
  const gone = await ask('the white thing is gone');
  expect((came.body as { p: number }).p).toBeGreaterThan((gone.body as { p: number }).p);
  expect(await ask('🦓')).toMatchObject({ status: 422, body: { field: 'sentence' } });
});
