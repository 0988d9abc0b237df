/** Links to one change, for people without a key. */

import { LOCALES } from '../../src/language/locales.js';
import type { Scope } from '../../src/stores/redis/scopes.js';
import { storedChange } from '../helpers/changes.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let now = 1_800_000_000_000;
beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0, publicUrl: 'https://host.example/cams' }, { clock: () => now });
});
beforeEach(() => {
  fake.reset();
  fake.apiKeys.keys.clear();
});
afterAll(() => fake.app.close());

const HOUR_MS = 3_600_000;
const change = storedChange({ camera: 'gate' });
const newKey = (scopes: Scope[] = ['judge'], cameras = ['gate']) =>
  fake.apiKeys.create({ name: 'night', scopes, cameras });
const share = (secret: string, payload: object = {}) =>
  fake.inject({
    method: 'POST',
    url: `/v1/changes/${change.id}/share`,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    payload,
  });
const open = (url: string, language = 'en') =>
  fake.app.inject({ url: url.replace('https://host.example/cams', ''), headers: { 'accept-language': language } });
const textOf = (body: string) => /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(body)?.[1] ?? '';
const ENDED = 'This link has ended.';

it('opens a page with the sentence, the times and the pictures of the change, without a key, until it ends', async () => {
  fake.changes.kept.push(change);
  const { secret } = await newKey();
  const made = await share(secret, { hours: 2 });
  const { url, expires_at } = made.json();
  expect([made.statusCode, Date.parse(expires_at)]).toEqual([201, now + 2 * HOUR_MS]);
  expect(url).toMatch(/^https:\/\/host\.example\/cams\/shared\//);
  const page = await open(url);
  expect(page.statusCode).toBe(200);
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
    'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
  });
  const { sections, title } = JSON.parse(textOf(page.body));
  expect([title, sections[0].title]).toEqual(['Seen at gate', change.caption]);
  expect(sections[0].facts.map(([name]: [string]) => name)).toEqual(
    expect.arrayContaining(['first seen', 'last seen']),
  );
  const paths: string[] = sections[0].frames.map(({ path }: { path: string }) => path);
  expect(paths).toHaveLength(3);
  for (const path of paths) {
    // No picture is stored: what counts is that no key is asked for.
    expect((await open(path.replace('../..', ''))).statusCode).not.toBe(401);
    expect(
      (await open(path.replace('../..', '').replace(/sig=(.)/, (_, first) => `sig=${first === 'A' ? 'B' : 'A'}`)))
        .statusCode,
    ).toBe(401);
  }
  now += 2 * HOUR_MS;
  const ended = await open(url);
  expect([ended.statusCode, JSON.parse(textOf(ended.body))]).toEqual([
    410,
    expect.objectContaining({ title: ENDED, facts: [], sections: [] }),
  ]);
  expect(ended.body).not.toContain(change.caption);
  for (const path of paths) expect((await open(path.replace('../..', ''))).statusCode).toBe(401);
});

it.each([
  ['another change', (url: string) => url.replace(change.id, storedChange({ name: 'van' }).id)],
  ['another key', (url: string) => url.replace(/key_\w+/, 'local')],
  ['a later end', (url: string) => url.replace(/exp=\d+/, 'exp=99999999999')],
  ['no signature', (url: string) => url.replace(/\?.*/, '')],
])('opens nothing with %s', async (_, forge) => {
  fake.changes.kept.push(change, storedChange({ name: 'van' }));
  const { secret } = await newKey();
  const { url } = (await share(secret)).json();
  expect((await open(url)).statusCode).toBe(200);
  const forged = await open(forge(url));
  expect([forged.statusCode, textOf(forged.body)]).toEqual([410, expect.stringContaining(ENDED)]);
});

it('ends with its key, and with the change', async () => {
  fake.changes.kept.push(change);
  const { key, secret } = await newKey(['admin'], []);
  const { url } = (await share(secret)).json();
  expect((await open(url)).statusCode).toBe(200);
  fake.changes.kept.length = 0;
  expect((await open(url)).statusCode).toBe(410);
  fake.changes.kept.push(change);
  await fake.apiKeys.revoke(key.id);
  expect((await open(url)).statusCode).toBe(410);
});

it('is made by a key that judges and sees the camera, for at most a week', async () => {
  fake.changes.kept.push(change);
  const statusOf = async (scopes: Scope[], cameras?: string[], payload = {}) =>
    (await share((await newKey(scopes, cameras)).secret, payload)).statusCode;
  expect(await statusOf(['read'])).toBe(403);
  expect(await statusOf(['judge'], ['yard'])).toBe(404);
  expect(await statusOf(['judge'], ['*'], { hours: 169 })).toBe(400);
  expect(await statusOf(['judge'], ['*'], { hours: 168 })).toBe(201);
  const headers = { authorization: `Bearer ${(await newKey()).secret}` };
  const url = `/v1/changes/${change.id}/share`;
  expect((await fake.inject({ method: 'POST', url, headers })).statusCode).toBe(400);
});

it.each(LOCALES)('is in the language of its reader: %s', async (locale) => {
  fake.changes.kept.push(change);
  const { url } = (await share((await newKey()).secret)).json();
  const page = await open(url, locale);
  expect(page.headers['content-language']).toBe(locale);
  expect(page.body).toContain(`<html lang="${locale}">`);
  expect(textOf(page.body)).not.toMatch(/shared_\w|evidence_\w/);
});
