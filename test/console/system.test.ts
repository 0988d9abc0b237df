/** In Chromium: the page "System", signing in with a key, what a role sees, and links for another device or person. */
import type { Page } from 'playwright-core';
import { ROLES, type Role } from '../../src/stores/redis/scopes.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { MODEL, workerWith } from '../helpers/fake-app.js';

const { open, service } = await useConsole({ auth: 'on' });

const TIMINGS = { queue: 3, fetch: 0, decode: 12, register: 20, encode: 80, caption: 40, heatmap: 2, total: 150 };

describeInBrowser('The page "System"', () => {
  it('asks for a key, and shows workers, models, queues and latency', async () => {
    const { secret } = await service.apiKeys.create({ name: 'desk', scopes: ['compare', 'admin'] });
    service.workers.live = [workerWith(MODEL), workerWith({ ...MODEL, provider: 'cuda:0' })];
    for (const total of [100, 150, 400]) await service.addComparison({ timings_ms: { ...TIMINGS, total } });
    const quiet = { ...TIMINGS, register: 0, encode: 0, caption: 0, heatmap: 0, quiet: 5 };
    for (const total of [150, 150]) await service.addComparison({ timings_ms: { ...quiet, total } });
    const { page, errors } = await open();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill('sd_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The API key is unknown or has been revoked').waitFor();
    expect(await inspect(page, 'sign-in')).toEqual([]);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await page.getByText('1 × cpu, 1 × cuda:0').waitFor();
    const row = page.getByRole('row', { name: /^total/ });
    expect(await row.innerText()).toMatch(/total\s+150 ms\s+400 ms/);
    expect(await page.getByRole('row', { name: /^encode/ }).innerText()).toMatch(/80 ms\s+80 ms/);
    expect(await page.getByRole('row', { name: /^quiet/ }).innerText()).toMatch(/5 ms\s+5 ms/);
    expect(await page.getByRole('region', { name: 'Queues' }).innerText()).toContain('archive');
    expect(await inspect(page, 'system')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('keeps the session over a reload, and not the key', async () => {
    const { secret } = await service.apiKeys.create({ name: 'desk', scopes: ['compare'] });
    const { page } = await open();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'System' }).waitFor();
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(stored)).toBe('[{},{},""]');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('returns to the sign-in when the key is revoked, and to the same page after it', async () => {
    const { secret, key } = await service.apiKeys.create({ name: 'desk', scopes: ['compare'] });
    const { page } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await service.apiKeys.revoke(key.id);
    await page.clock.fastForward(6_000);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const other = await service.apiKeys.create({ name: 'other', scopes: ['compare'] });
    await page.getByLabel('API key').fill(other.secret);
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await page.getByRole('heading', { name: 'System' }).count()).toBe(1));
  });
});

describeInBrowser('A role', () => {
  const signInAs = async (role: Role, path: string) => {
    const { secret } = await service.apiKeys.create({ name: role, scopes: ROLES[role], cameras: ['*'] });
    const tab = await open();
    await tab.page.goto(service.url + path);
    await tab.page.getByLabel('API key').fill(secret);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return tab;
  };
  const views = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
  const addChange = async () => {
    const comparison = await service.addComparison({}, 'gate');
    const change = storedChange({
      camera: 'gate',
      comparisons: { first: comparison, best: comparison, last: comparison },
    });
    service.addChange(change);
    return change;
  };

  it.each([
    ['viewer', ['Review', 'Wall', 'Cameras', 'System']],
    ['integrator', ['Review', 'Wall', 'Cameras', 'Footage', 'System', 'Try']],
    ['admin', ['Review', 'Wall', 'Cameras', 'Footage', 'Endpoints', 'System', 'Try']],
  ] as const)('%s sees the pages that its key opens', async (role, expected) => {
    const { page } = await signInAs(role, '/system');
    expect(await views(page)).toEqual(expected);
  });

  it('viewer judges and shares nothing', async () => {
    const change = await addChange();
    const { page } = await signInAs('viewer', `/review/${change.id}`);
    await page.getByRole('article').getByText('signed package').waitFor();
    expect(await page.getByRole('toolbar', { name: 'Actions' }).count()).toBe(0);
    expect(await page.getByText('Share', { exact: true }).count()).toBe(0);
  });

  it('guard signs in a telephone by a code that works once, and makes a link to a change', async () => {
    const change = await addChange();
    const { page, errors } = await signInAs('guard', `/review/${change.id}`);
    await page.getByRole('toolbar', { name: 'Actions' }).waitFor();
    await page.getByRole('button', { name: 'Telephone' }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await inspect(page, 'telephone')).toEqual([]);
    const link = await page.getByLabel('Link that signs in').inputValue();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#sign-in=/);
    await page.getByRole('button', { name: 'Close' }).click();
    const telephone = await open();
    await telephone.page.goto(link);
    await telephone.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    expect(await telephone.page.getByRole('button', { name: 'Telephone' }).count()).toBe(0);
    const again = await open();
    await again.page.goto(link);
    await again.page.getByText('This link has expired or was used before').waitFor();

    await page.getByRole('button', { name: '24 hours' }).click();
    const shared = await page.getByLabel('Link to this change').inputValue();
    expect(await inspect(page, 'share')).toEqual([]);
    const colleague = await open();
    await colleague.page.goto(shared);
    await colleague.page.getByRole('heading', { name: change.caption }).waitFor();
    const isLoaded = '[...document.images].map(({ naturalWidth }) => naturalWidth > 0)';
    await eventually(async () => expect(await colleague.page.evaluate(isLoaded)).toEqual([true, true, true]));
    expect(await inspect(colleague.page, 'shared')).toEqual([]);
    expect([...errors, ...colleague.errors]).toEqual([]);
  });
});
