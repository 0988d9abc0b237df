/** The service with the default bundle: a rule with a sentence singles out one of two changes of a camera. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { jest } from '@jest/globals';
import { eventually } from '../helpers/eventually.js';
import { answerOf, type Service, startService } from '../helpers/service.js';

jest.setTimeout(240_000);
let service: Service;
beforeAll(async () => {
  service = await startService({ env: { MODELS_DIR: resolve('models'), DEFAULT_MODEL: 'scorer-surveillance' } });
});
afterAll(() => service?.stop());

async function request(path: string, init: RequestInit = {}) {
  const headers = { ...service.headers, ...init.headers };
  return answerOf(await fetch(`${service.url}${path}`, { ...init, headers }));
}
const sendJson = (method: string, path: string, body: object) =>
  request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const rulesWith = (when: string) => ({
  ...{ before: 'reference', examine_every_s: 0 },
  alerts: { confirm_frames: 1, severity_rules: [{ when, severity: 'high' }, { severity: 'info' }] },
});
const WHEN = 'a person in red has appeared';

it('raises the change that the sentence names, and the dry run judges another sentence', async () => {
  expect((await sendJson('PUT', '/v1/cameras/gate', rulesWith(WHEN))).status).toBe(201);
  for (const [i, side] of ['before', 'after'].entries()) {
    const form = new FormData();
    form.append('frame', new Blob([new Uint8Array(await readFile(`examples/${side}.jpg`))]), 'frame.jpg');
    form.append('captured_at', new Date(Date.now() - 60_000 + 1_000 * i).toISOString());
    const headers = { prefer: 'wait=60' };
    expect((await request('/v1/cameras/gate/frames', { method: 'POST', body: form, headers })).status).toBe(200);
  }
  interface Found {
    caption: string;
    severity: string;
    alerted_at: string | null;
    judged: { when: string; p: number }[];
  }
  let changes: Found[] = [];
  await eventually(async () => {
    changes = ((await request('/v1/changes')).body as { items: Found[] }).items;
    expect(changes.length).toBeGreaterThan(1);
  }, 60_000);
  const [named, ...others] = changes.toSorted((a, b) => (b.judged[0]?.p ?? 0) - (a.judged[0]?.p ?? 0));
  expect(named).toMatchObject({ severity: 'high', judged: [{ when: WHEN }] });
  expect(named?.caption).toMatch(/in red has appeared/);
  expect(named?.alerted_at).not.toBeNull();
  expect(others.map(({ severity, alerted_at }) => [severity, alerted_at])).toEqual(others.map(() => ['info', null]));
  const tried = await sendJson('POST', '/v1/cameras/gate/dry-run', rulesWith('a vehicle has appeared'));
  expect(tried.body).toMatchObject({ alert_count: 0, changes: changes.length, limits: [] });
  const same = await sendJson('POST', '/v1/cameras/gate/dry-run', rulesWith(WHEN));
  expect(same.body).toMatchObject({ alert_count: 1, changes: changes.length });
});
